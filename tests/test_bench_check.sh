#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# scripts/bench_check and speed_compare find what they are there to find: a changed parameter, a wrong `Bench:` line, a slower
# build; and stay silent when there is nothing. Against Hone, made-up engines with known figures, and stockfish.
set -u
home=$(cd "$(dirname "$0")/.." && pwd)
hone=${HONE_BIN:-$home}/hone
check=$home/scripts/bench_check
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0 checks=0

# expect STATUS PATTERN COMMAND...: the exit status, and a pattern that some line of the output fits.
expect() {
    local status=$1 pattern=$2 output got
    shift 2
    output=$("$@" 2>&1)
    got=$?
    checks=$((checks + 1))
    if [ $got != "$status" ] || ! grep -qE -e "$pattern" <<<"$output"; then
        echo "$*: status $got, expected $status and '$pattern'; it said:"
        head -20 <<<"$output"
        failures=$((failures + 1))
    fi
}

# engine NAME: a program that prints what follows on standard input, whatever it is asked.
engine() { { echo '#!/bin/sh'; echo 'cat <<"END"'; cat; echo END; } >"$1" && chmod +x "$1"; }

# --- Hone: nothing changed, one parameter changed
expect 0 '^examples:' "$check" --help
expect 0 '^bench \(6 depth\): [0-9]+ nodes [0-9]+ nps, as expected$' "$check" "$hone" 6
printf '#!/bin/sh\nexec "%s" "$@" LmrBase=1300\n' "$hone" >changed && chmod +x changed
positions() { "$@" | sed -n -E 's#^ *([0-9]+)/[0-9]+ +([0-9]+) nodes.*#\1 \2#p'; }
first=$(diff <(positions "$hone" bench 6) <(positions ./changed bench 6) | sed -n -E '0,/^</s/^< ([0-9]+) .*/\1/p')
nodes=$(positions ./changed bench 6 | sed -n "${first}s/.* //p")
expect 1 "^  position $first: [^ ]+/[^ ]+ [wb] " "$check" ./changed 6
expect 1 "^  $nodes nodes, expected [0-9]+$" "$check" ./changed 6
expect 1 '^  [0-9]+ of [0-9]+ positions differ; in all [0-9]+ nodes, expected [0-9]+$' "$check" ./changed 6
expect 1 'differs from .*bench.expected$' "$check" ./changed 6
expect 1 'has no lines for depth 5' "$check" "$hone" 5

# --- a made-up engine: what the file may lack or have
engine good <<'END'
 1/3        100 nodes  e2e4   cp 10     a/b w - - 0 1
 2/3        200 nodes  e2e4   mate 1    c/d b - - 0 1
 3/3        300 nodes  e2e4   cp -5     e/f w - - 0 1
600 nodes 1000 nps
END
sed 's/200/201/; s/600/601/' good >other && chmod +x other
sed '/3\/3/d; s/600/300/' good >short && chmod +x short
sed 's#c/d#x/y#' good >moved && chmod +x moved
expect 0 'e holds 600 nodes' "$check" --update --cmd ./good --file e
expect 0 '600 nodes 1000 nps, as expected' "$check" --cmd ./good --file e
expect 1 '^  position 2: c/d b - - 0 1$' "$check" --cmd ./other --file e
expect 1 '^  201 nodes, expected 200$' "$check" --cmd ./other --file e
expect 1 '^  1 of 3 positions differ; in all 601 nodes, expected 600$' "$check" --cmd ./other --file e
expect 1 '^  position 3: e/f w' "$check" --cmd ./short --file e
expect 1 'was expected and did not come' "$check" --cmd ./short --file e
expect 1 'another one than expected: c/d b' "$check" --cmd ./moved --file e
sed -i '/ 3 300/d' e
expect 1 'is not expected at all' "$check" --cmd ./good --file e
expect 0 '600 nodes, as expected' "$check" --cmd ./good --nodes 600
expect 1 'searched 600 nodes, expected 601' "$check" --cmd ./good --nodes 601
expect 1 'there is no nowhere' "$check" --cmd ./good --file nowhere
expect 1 'nosuch: no such program' "$check" --cmd ./nosuch --nodes 1
expect 1 'says nowhere how many nodes' "$check" --cmd true --nodes 1
expect 1 "'false bench' failed" "$check" --cmd false --nodes 1
expect 2 'needs --file, --nodes or --commits' "$check" --cmd ./good
expect 2 'unknown option --fast' "$check" --fast
expect 2 "'many' is no number" "$check" --cmd ./good --nodes many

# --- other engines' words
engine ethereal <<'END'
Bench [#  1]    13 cp  Best:  e2e4  Ponder:  e7e5         1500 nodes   100000 nps
Bench [#  2]   -13 cp  Best:  e2e4  Ponder:  e7e5          500 nodes   100000 nps
OVERALL:                                           2000 nodes      1234567 nps
END
expect 0 '^total 2000 nodes 1234567 nps$' "$home/scripts/bench_run" ./ethereal bench
expect 0 '^2 500 position 2$' "$home/scripts/bench_run" ./ethereal bench
printf 'Nodes searched  : 77\n' | engine timeless
expect 0 '^total 77 nodes [0-9]+ nps$' "$home/scripts/bench_run" ./timeless bench
expect 0 '^total 2000 nodes [0-9]+ nps$' "$home/scripts/bench_run" --cpu ./ethereal bench
printf '#!/bin/sh\nread -r line\nread -r last\n[ "$line $last" = "bench 3 quit" ] && echo 42 nodes 1 nps\n' >uci && chmod +x uci
expect 0 '42 nodes, as expected' "$check" --stdin --cmd ./uci --bench "bench 3" --nodes 42
stockfish=$(PATH=$PATH:/usr/games command -v stockfish)
if [ -n "$stockfish" ]; then
    sf=("$check" --cmd "$stockfish" --file sf.expected)
    expect 0 'sf.expected holds [0-9]+ nodes' "${sf[@]}" --bench "bench 16 1 5" --update
    expect 0 'as expected' "${sf[@]}" --bench "bench 16 1 5"
    expect 1 '^  position [0-9]+: [^ ]+/[^ ]+ [wb] ' "${sf[@]}" --bench "bench 16 1 6"
    sum=$(PATH=$PATH:/usr/games stockfish bench 16 1 5 2>&1 | sed -n 's/^Nodes searched *: //p')
    expect 0 "^default total $sum$" cat sf.expected
    expect 0 "$sum nodes, as expected" "$check" --cmd "$stockfish" --stdin --bench "bench 16 1 5" --nodes "$sum"
    expect 0 '^ratio [0-9.]+ \(95 %: [0-9.]+ \.\. [0-9.]+, 2 pairs\): ' "$check" --speed --bench "bench 16 1 3" --pairs 2 "$stockfish" "$stockfish"
else
    echo "skipped: no stockfish here"
fi

# --- what commits say
git init -q repo && cd repo || exit 1
git config user.name test && git config user.email test@localhost
sum() { printf 'default 1 %d x\n6 1 5 x\n' "$1" >e; }
commit() { git add -A && git commit -q --allow-empty -m "$1"; }
bench=("$check" --cmd ../good --file e)
expect 2 'no git repository with commits' "${bench[@]}" --commits
sum 600 && commit 'Begin'
expect 1 "no commit message has a line 'Bench: N'" "${bench[@]}" --commits
git commit -q --amend -m 'Begin

Bench: 600' && commit 'Bench positions are next' && git branch -f start
expect 0 '^bench_check: Bench: 600, as [0-9a-f]+ says$' "${bench[@]}" --commits
sum 500 && commit 'Prune more

Bench: 501'
expect 1 'says Bench: 501, e sums up to 500' "${bench[@]}" --commits
expect 1 '\(Prune more\) says Bench: 501, but its e sums up to 500' "${bench[@]}" --commits=start..HEAD
git commit -q --amend -m 'Prune more

Bench: 500'
expect 1 'says Bench: 500, ../good bench searched 600' "${bench[@]}" --commits
expect 0 'Bench: 500, as' "${bench[@]}" --commits --no-run
sum 400 && commit 'Prune still more'
expect 1 "\(Prune still more\) changes e and has no line 'Bench: 400'" "${bench[@]}" --commits=start..HEAD
sum 600 && commit 'Back again

Bench: 600'
expect 0 'Bench: 600, as' "${bench[@]}" --commits
expect 1 'Prune still more' "${bench[@]}" --commits=start..HEAD
expect 0 '1 commits with a line' "${bench[@]}" --commits=HEAD~1..HEAD
expect 2 "'nosuch..HEAD' is no range" "${bench[@]}" --commits=nosuch..HEAD
cd ..

# --- speed: a series of known figures, then Student's interval worked out by hand (2.776 standard errors for five pairs)
# speeds NAME FIRST NPS...: an engine that is faster or slower each time; FIRST is the warm-up.
speeds() {
    local name=$1
    shift
    printf '%s\n' "$@" >"$name.nps"
    printf '#!/bin/sh\nhead -1 %s.nps | sed "s/^/100 nodes /; s/$/ nps/"\nsed -i 1d %s.nps\n' "$name" "$name" >"$name"
    chmod +x "$name"
}
run() { # BASE'S SPEEDS, NEW'S SPEEDS, OPTION...
    speeds base 1 $1
    speeds new 1 $2
    "$check" --speed ./base ./new "${@:3}"
}
same="1000 1000 1000 1000 1000"
# Logarithms .00995 .01980 .02956 .03922 .04879: mean .029465, deviation .015356, error .006867, times 2.776 = .019067.
expect 0 '^ratio 1\.030 \(95 %: 1\.010 \.\. 1\.050, 5 pairs\): faster$' run "$same" "1010 1020 1030 1040 1050" --pairs 5
expect 0 '^ratio 0\.971 \(95 %: 0\.953 \.\. 0\.990, 5 pairs\): slower$' run "1010 1020 1030 1040 1050" "$same" --pairs 5
# 4.604 standard errors for 99 %.
expect 0 '^ratio 1\.030 \(99 %: 0\.998 \.\. 1\.063, 5 pairs\): no difference seen$' run "$same" "1010 1020 1030 1040 1050" --pairs 5 --confidence 99
# Two pairs, 12.706 standard errors: .00995 and .01980 give .014876 +- .062593.
expect 0 '^ratio 1\.015 \(95 %: 0\.953 \.\. 1\.081, 2 pairs\): no' run "1000 1000" "1010 1020" --pairs 2
expect 0 '^base 1000 nps, new 1015 nps$' run "1000 1000" "1010 1020" --pairs 2
expect 0 'slower$' run "1010 1020 1030 1040 1050" "$same" --pairs 5 --fail-below 0.97
expect 1 'below 0.995 beyond doubt' run "1010 1020 1030 1040 1050" "$same" --pairs 5 --fail-below 0.995
expect 0 'the two do not search the same: 600 and 601 nodes' "$check" --speed ./good ./other --pairs 2
expect 2 'expected two programs, got 1' "$check" --speed ./good
expect 2 '--pairs: at least 2' "$check" --speed ./good ./other --pairs 1
expect 2 "--fail-below: 'x' is no number" "$check" --speed ./good ./other --fail-below x
expect 0 '^examples:' "$check" --speed --help

echo "$checks checks, $failures failures"
[ $failures = 0 ]
