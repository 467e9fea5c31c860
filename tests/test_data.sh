#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# `hone-tune datagen` and `hone-tune data` as they are run: what they say and return, kills and Ctrl-C.
set -u
bin=${HONE_BIN:-$(cd "$(dirname "$0")/.." && pwd)}/hone-tune
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0 checks=0

# fail TEXT: counts and says.
fail() {
    echo "$1"
    failures=$((failures + 1))
}

# expect STATUS PATTERN ARGUMENT...: the exit status, and a pattern that some line of the output fits.
expect() {
    local status=$1 pattern=$2 output got
    shift 2
    output=$("$bin" "$@" 2>&1)
    got=$?
    checks=$((checks + 1))
    if [ $got != "$status" ] || ! grep -qE -e "$pattern" <<<"$output"; then
        fail "hone-tune $*: status $got, expected $status and '$pattern'; it said: $(head -20 <<<"$output")"
    fi
}

expect 0 '^Examples:' datagen --help
expect 0 '^Examples:' data --help
expect 2 '^hone-tune datagen --out' datagen
expect 2 'how long' datagen --out a.hone
expect 2 'out FILE is missing' datagen --games 3
expect 2 '--nodes: .*0' datagen --out a.hone --games 3 --nodes 0
expect 2 '--games: a value is missing' datagen --out a.hone --games
expect 2 '--bogus: there is no such option' datagen --out a.hone --bogus 3
expect 2 '--quiet: takes no value' datagen --out a.hone --games 3 --quiet=no
expect 2 '--out: a value is missing' datagen --out --games 3
# The other commands that read their options as datagen does.
expect 2 "--format: 'uci,bogus': of params" spsa --games 64 --format uci,bogus
expect 2 '--format: no format is named' spsa --games 64 --format=
expect 2 '--option LmrBase: it is among the parameters' spsa --games 64 --group LmrBase --option LmrBase=1
expect 2 "'word' is not an option" spsa word
expect 2 '--nix: there is no such option' ablate --nix 3
expect 2 '--fresh: takes no value' train --out n --fresh=no a.hone
expect 2 '--epochs and --steps exclude' train --out n --epochs 2 --steps 3 a.hone
expect 2 '--r belongs to hand-set methods' simulate --r .01
expect 2 'Threads is not free' datagen --out a.hone --games 3 --option Threads=2
expect 1 "no option 'Bogus'" datagen --out a.hone --games 3 --option Bogus=2
expect 1 'EvalFile: .*none.nnue' datagen --out a.hone --games 3 --option EvalFile=none.nnue
[ -e a.hone ] && fail "a run that was refused left a file"

expect 0 '70 games in all$' datagen --out a.hone --games 70 --nodes 30 --seed 5 --dfrc 30
expect 0 '5 games in all$' datagen --out b.hone --games 5 --nodes 30 --seed 6 --quiet
expect 1 "has 'nodes 30', this run 'nodes 31'" datagen --out a.hone --games 70 --nodes 31 --seed 5 --dfrc 30
expect 0 '^games +75 .*plies' data stats a.hone b.hone
expect 0 '^duplicates' data stats a.hone b.hone
expect 0 '^game 3: .* plies, the first 9 random' data show a.hone 3
expect 0 '^  1\. ' data show a.hone 69
expect 1 'no game 70, only 70' data show a.hone 70
expect 2 'GAME' data show a.hone x
expect 0 'ab.hone: 75 games, [0-9]+ plies from 2 files' data merge ab.hone a.hone b.hone
expect 0 '^games +75 ' data stats ab.hone
expect 1 'exists already' data merge ab.hone a.hone b.hone
expect 1 'the same settings' data merge c.hone a.hone b.hone a.hone
expect 1 'No such file' data merge c.hone a.hone none.hone
expect 2 'expected check, stats, show or merge' data merge c.hone
expect 2 'expected check, stats, show or merge' data bogus a.hone
[ "$("$bin" data show a.hone 64 | tail -n +2)" = "$("$bin" data show ab.hone 64 | tail -n +2)" ] ||
    fail "game 64 is another one after the merge"
[ "$("$bin" data show b.hone 2 | tail -n +2)" = "$("$bin" data show ab.hone 72 | tail -n +2)" ] ||
    fail "game 2 of the second file is not game 72 of both"

# A torn end is passed over; damage and other files are not.
head -c -3 a.hone >torn.hone
expect 0 '^games +64 ' data stats torn.hone
expect 0 'torn.hone: an unfinished chunk of [0-9]+ bytes' data stats torn.hone
{ head -c 1000 a.hone; printf 'X'; tail -c +1002 a.hone; } >bad.hone
expect 1 'bad.hone: the chunk at byte [0-9]+ is damaged' data check a.hone bad.hone
echo 'a text' >text
expect 1 'text: not a file of games' data check text

# Killed, and asked to stop: the same command goes on, and the file is that of a run in one.
long=(datagen --out k.hone --games 70 --nodes 30 --seed 5 --dfrc 30 --quiet)
"$bin" "${long[@]}" >/dev/null & pid=$!
sleep 0.4; kill -9 $pid; wait $pid 2>/dev/null
"$bin" "${long[@]}" >/dev/null & pid=$!
sleep 0.3; kill -INT $pid; wait $pid || fail "Ctrl-C: status $?"
expect 0 '70 games in all$' "${long[@]}"
cmp a.hone k.hone || fail "a file that was killed and gone on with is another one"
checks=$((checks + 5))

echo "$checks checks, $failures failures"
[ $failures = 0 ]
