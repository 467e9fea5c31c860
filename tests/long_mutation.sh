#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Takes each protection of pruning out of the source once, in a copy of the tree, and wants a suite to fail. A protection that
# nobody would miss is named, and so is one whose text is no longer found exactly once: then this list must be brought up to date.
#
#   tests/long_mutation.sh [PATTERN]     only the mutations whose name fits
set -u
home=$(cd "$(dirname "$0")/.." && pwd)
pattern=${1:-.}
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
cp -r "$home"/{Makefile,engine,openings,match,tuner,tests,scripts} "$tree/" && cd "$tree" || exit 1
done=0 bad=0
unset HONE_LONG MAKEFLAGS

# Builds one suite of the copy, quickly, and prints where it is.
# shellcheck disable=SC2016 # $(COMMON) is for make
build() { # suite
    make DEPS=0 UNITY_DIR="$home/build/unity/src" TESTING='$(COMMON) -O1 -DHONE_DEBUG' HELPERS= SUITES="$1" suites >log 2>&1 || return 1
    find build -path "*/tests/$1" -type f
}

# Whether a suite passes.
passes() { # program
    { timeout 120 "$1" >log 2>&1 </dev/null; } 2>/dev/null # bash's own word on a crash is not wanted
}

# Writes a file with the one place where a text stands replaced; says how often it stands there if that is not once.
replace() { # file text replacement
    OLD=$2 NEW=$3 awk '
        BEGIN { old = ENVIRON["OLD"]; new = ENVIRON["NEW"] }
        {
            line = $0
            shown = ""
            while ((at = index(line, old)) > 0) {
                shown = shown substr(line, 1, at - 1) new
                line = substr(line, at + length(old))
                found++
            }
            print shown line
        }
        END { if (found != 1) { print found + 0 > "/dev/stderr"; exit 1 } }' "$1"
}

problem() {
    echo "FAIL $1: $2"
    bad=$((bad + 1))
}

mutate() { # name suite file text replacement
    local name=$1 suite=$2 file=$3 count program
    grep -qE -e "$pattern" <<<"$name" || return
    done=$((done + 1))
    count=$(replace "$file" "$4" "$5" 2>&1 >mutant) || { problem "$name" "its text stands $count times in $file, expected once: $4"; return; }
    cp "$file" original && cp mutant "$file"
    if ! program=$(build "$suite"); then problem "$name" "the mutant does not compile: $(grep -m1 error log)"
    elif passes "$program"; then problem "$name" "nothing in $suite misses it"
    else echo "ok   $name: $(sed -n -E 's/^[^:]*:[0-9]+:([a-z_0-9]+):FAIL.*/\1/p' log | head -1 | grep . || echo "it crashed")"; fi
    cp original "$file"
}

program=$(build test_protect) || { tail -20 log; echo "the suite does not build"; exit 1; }
passes "$program" || { grep ':FAIL' log; echo "the suite fails before anything is taken out"; exit 1; }

search() { mutate "$1" test_protect engine/search.c "$2" "$3"; }
quiesce() { mutate "$1" test_protect engine/quiesce.c "$2" "$3"; }

# Whole nodes.
where='if (!n.pv && !n.in_check && excluded == MOVE_NONE) {'
search "node: not in check" "$where" 'if (!n.pv && excluded == MOVE_NONE) {'
search "node: not on the principal variation" "$where" 'if (!n.in_check && excluded == MOVE_NONE) {'
search "node: not without a move" "$where" 'if (!n.pv && !n.in_check) {'
search "reverse futility: depth" '!p->ReverseFutility || n->depth > p->RfpMaxDepth ||' '!p->ReverseFutility ||'
search "reverse futility: a decisive static score" 'n->depth > p->RfpMaxDepth || score_is_decisive(n->eval) ||' 'n->depth > p->RfpMaxDepth ||'
search "reverse futility: being mated" '        score_is_loss(n->beta))' '        false)'
search "reverse futility: the margin grows" 'p->RfpMargin * n->depth' 'p->RfpMargin'
search "razoring: depth" 'n->depth > p->RazorMaxDepth ||' ''
search "razoring: a decisive alpha" ' || score_is_decisive(n->alpha)) return SCORE_NONE;' ') return SCORE_NONE;'
search "razoring: the margin grows" 'n->eval + margin * n->depth > n->alpha' 'n->eval + margin > n->alpha'
search "razoring: endgames" 'n->endgame ? p->RazorMarginEndgame : p->RazorMargin' 'p->RazorMargin'
search "razoring: quiescence is asked" 'if (score > n->alpha || score_is_decisive(score)) return' 'if (score_is_decisive(score)) return'
search "razoring: no mate is returned" 'if (score > n->alpha || score_is_decisive(score)) return' 'if (score > n->alpha) return'
search "null move: depth" 'n->depth < p->NullMinDepth ||' ''
search "null move: not two in a row" ' || ss[-1].move == MOVE_NULL ||' ' ||'
search "null move: not while one is verified" 'n->ply < t->run.null_min_ply)' 'false)'
search "null move: the score is above beta" 'if (n->eval < n->beta || ss->static_eval' 'if (ss->static_eval'
search "null move: the static score, too" '|| ss->static_eval < n->beta + p->NullMarginBase - p->NullMarginDepth * n->depth)' ')'
search "null move: zugzwang" 'bb_count(position_officers(&ss->pos, ss->pos.stm)) < p->NullMinPieces || ' ''
search "null move: being mated" '< p->NullMinPieces || score_is_loss(n->beta))' '< p->NullMinPieces)'
search "null move: the table knows better" 'if (n->tt.hit && (n->tt.bound & BOUND_UPPER) && n->tt.score < n->beta) return SCORE_NONE;' ''
search "null move: passing must beat beta" '    if (score < n->beta) return SCORE_NONE;' ''
search "null move: a mate is clipped" 'if (score_is_win(score)) score = n->beta;' ''
search "null move: verification" 'if (p->NullVerification && n->depth >= p->NullVerifyDepth && t->run.null_min_ply == 0) {' 'if (false) {'
search "null move: the verification counts" 'if (verified < n->beta) return SCORE_NONE;' ''
search "null move: on again after it" '        t->run.null_min_ply = 0;' ''
search "ProbCut: depth" 'n->depth < p->ProbCutMinDepth || ' ''
search "ProbCut: a decisive beta" 'n->depth < p->ProbCutMinDepth || score_is_decisive(n->beta) ||' 'n->depth < p->ProbCutMinDepth ||'
search "ProbCut: a decisive target" '        score_is_decisive(target))' '        false)'
search "ProbCut: the table knows better" '        n->tt.score < target)' '        false)'
search "ProbCut: the excluded move" 'if (move == ss->excluded) continue;' ''
search "ProbCut: the target is reached" 'if (score < target) continue;' ''
search "ProbCut: no mate is returned" 'return score_is_decisive(score) ? n->beta : score - (target - n->beta);' 'return score - (target - n->beta);'
search "classic multi-cut: where a cut is expected" '!p->ClassicMultiCut || !n->cut ||' '!p->ClassicMultiCut ||'
search "classic multi-cut: a decisive beta" 'n->depth < p->MultiCutMinDepth || score_is_decisive(n->beta))' 'n->depth < p->MultiCutMinDepth)'
search "multi-cut: no mate is returned" 'score >= n->beta && !score_is_decisive(score)) {' 'score >= n->beta) {'
search "mates are not blended with beta" 'if (!score_is_decisive(best) && !score_is_decisive(beta)) best =' 'best ='

# Single moves.
search "moves: not at the root" 'if (!n.root && !score_is_loss(best) && position_officers' 'if (!score_is_loss(best) && position_officers'
search "moves: not while being mated" 'if (!n.root && !score_is_loss(best) && position_officers' 'if (!n.root && position_officers'
search "moves: not with pawns alone" ' && position_officers(pos, pos->stm) &&' ' &&'
search "futility: in check" '!p->FutilityPruning || n->in_check ||' '!p->FutilityPruning ||'
search "futility: depth" ' || depth > p->FutilityMaxDepth) return false;' ') return false;'
search "futility: the margin" 'ss->static_eval + futility_margin(p, depth, n->endgame) > n->alpha' 'ss->static_eval > n->alpha'
search "futility: captures" 'if (p->FutilityKeepCaptures && position_is_capture(pos, c->move)) return false;' ''
search "futility: promotions" 'if (p->FutilityKeepPromotions && move_kind(c->move) == MOVE_PROMOTION) return false;' ''
search "futility: checks" 'if (p->FutilityKeepChecks && c->gives_check) return false;' ''
search "futility: killers" 'if (p->FutilityKeepKiller && c->refutation) return false;' ''
search "futility: winning exchanges" 'if (p->FutilityKeepSee && position_see(pos, c->move, 1)) return false;' ''
search "futility: hanging pieces" 'return !p->FutilityKeepHanging || !is_hanging(pos, move_from(c->move));' 'return true;'
search "futility: hanging means undefended" '           !position_attacked(pos, pos->stm, square, occupied);' '           true;'
search "futility: noisy moves" '(quiet || !p->FutilityKeepCaptures) && futile(' 'futile('
search "futility: the linear margin grows" 'p->FutilityBase + p->FutilityScale * depth' 'p->FutilityBase + p->FutilityScale'
search "futility: the table grows" 'table[int_clamp(depth, 1, 8) - 1]' 'table[0]'
search "futility: endgames" 'return endgame ? margin * p->FutilityEndgameScale / 100 : margin;' 'return margin;'
extended='if (!p->ExtendedFutility || n->in_check || c->gives_check || n->depth > p->ExtFutilityMaxDepth)'
search "extended futility: in check" "$extended" 'if (!p->ExtendedFutility || c->gives_check || n->depth > p->ExtFutilityMaxDepth)'
search "extended futility: checks" "$extended" 'if (!p->ExtendedFutility || n->in_check || n->depth > p->ExtFutilityMaxDepth)'
search "extended futility: depth" "$extended" 'if (!p->ExtendedFutility || n->in_check || c->gives_check)'
search "extended futility: promotions" '    if (move_kind(c->move) == MOVE_PROMOTION) return false;' ''
search "extended futility: the victim" 'gain = victim == NO_TYPE ? 0 : SeeValues[victim];' 'gain = 0 * victim;'
search "late moves: in check" 'if (quiet && p->LateMovePruning && !n->in_check &&' 'if (quiet && p->LateMovePruning &&'
search "late moves: captures" 'if (quiet && p->LateMovePruning && !n->in_check &&' 'if (p->LateMovePruning && !n->in_check &&'
search "late moves: checks" 'return !c->gives_check;' 'return true;'
search "late moves: more at more depth" 'p->LmpScale * n->depth * n->depth' 'p->LmpScale'
search "history: captures" 'if (quiet && p->HistoryPruning &&' 'if (p->HistoryPruning &&'
search "history: the limit grows" 'c->history < -p->HistPruneScale * n->depth' 'c->history < -p->HistPruneScale'
fitted='if (quiet && p->ProbabilisticPruning && !n->in_check && !c->gives_check && n->depth <= 6 &&'
search "probabilistic: captures" "$fitted" 'if (p->ProbabilisticPruning && !n->in_check && !c->gives_check && n->depth <= 6 &&'
search "probabilistic: in check" "$fitted" 'if (quiet && p->ProbabilisticPruning && !c->gives_check && n->depth <= 6 &&'
search "probabilistic: checks" "$fitted" 'if (quiet && p->ProbabilisticPruning && !n->in_check && n->depth <= 6 &&'
search "probabilistic: the first moves" '        c->number > p->ProbPruneMinMoves &&' ''
search "exchange: quiet moves" '-p->SeeQuietMargin * c->reduced_depth * c->reduced_depth' '-p->SeeQuietMargin'
search "exchange: captures" '-p->SeeCaptureMargin * n->depth' '-p->SeeCaptureMargin'

# Quiescence.
quiesce "quiescence: no standing pat in check" '    if (!in_check) {' '    if (true) {'
quiesce "quiescence: all evasions" 'if (in_check) movepick_main(' 'if (false) movepick_main('
quiesce "quiescence: one evasion at least" '        if (!score_is_loss(best)) {' '        if (true) {'
quiesce "quiescence: mates" 'if (in_check && number == 0) return node_mated_in(ply);' ''
quiesce "quiescence: a mate is not blended with beta" 'return score_is_decisive(best) ? best : (best + beta) / 2;' 'return (best + beta) / 2;'
quiesce "delta: in check" 'bool delta = p->DeltaPruning && !in_check &&' 'bool delta = p->DeltaPruning &&'
quiesce "delta: late endgames" '                 bb_count(position_occupied(pos)) >= p->DeltaMinPieces;' '                 true;'
quiesce "delta: depth" ' && qply < p->DeltaMaxDepth &&' ' &&'
quiesce "delta: promotions" 'if (delta && move_kind(move) != MOVE_PROMOTION &&' 'if (delta &&'
quiesce "delta: the victim" 'floor_score + p->DeltaMargin + SeeValues[position_captured(pos, move)] <= alpha) {' 'floor_score + p->DeltaMargin <= alpha) {'

[ $done -gt 0 ] || { echo "no mutation is named like '$pattern'"; exit 1; }
echo "$done mutations, $((done - bad)) caught, $bad not"
[ $bad = 0 ]
