#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The program hone-book as it is run: each command, and what it says and returns when the input is bad.
set -u
bin=${HONE_BIN:-$(cd "$(dirname "$0")/.." && pwd)}/hone-book
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0 checks=0

# expect STATUS PATTERN ARGUMENT...: the exit status, and a pattern that some line of the output fits.
expect() {
    local status=$1 pattern=$2 output got
    shift 2
    output=$("$bin" "$@" 2>&1)
    got=$?
    checks=$((checks + 1))
    if [ $got != "$status" ] || ! grep -qE -e "$pattern" <<<"$output"; then
        echo "hone-book $*: status $got, expected $status and '$pattern'; it said:"
        echo "$output" | head -20
        failures=$((failures + 1))
    fi
}

printf '1. e4 e5 1-0\n1. e4 c5 1/2-1/2\n1. d4 d5 0-1\n1. e4 Ke6 1-0\n1. c4 *\n' >games.pgn
printf '4k3/8/8/8/8/8/4P3/4K3 w - -\nnonsense\n4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 3;\n' >lines.epd

printf '4k3/8/8/8/8/8/4P3/4K3 w - -' >good.epd
printf '\xef\xbb\xbf4k3/8/8/8/8/8/4P3/4K3 w - -\r\n4k3/8/8/8/8/8/3P4/4K3 w - -' >bom.epd
printf '\xff\xfe4\0k\0003\0/\0008\0\n\0' >wide.epd
: >empty.epd

expect 0 'suite +start positions' --help
expect 0 'suite +start positions' -h
expect 2 'make +a Polyglot book'
expect 2 "unknown command 'mak'" mak
for command in make show merge check suite; do expect 0 '^examples:' $command --help; done

expect 0 'one.bin: 3 moves in 3 positions' make --min-games 1 one.bin games.pgn
expect 0 '^left out: games.pgn:4: no legal move for Black at move 1: .Ke6' make --min-games 1 one.bin games.pgn
expect 0 'e4 +e2e4 +3 100.00 %' show one.bin
expect 0 'd5 +d7d5 +2 100.00 %' show one.bin 'rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1'
expect 0 'd5 +d7d5 +2 100.00 %' show one.bin rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1
expect 0 '3 moves in 3 positions' merge two.bin one.bin one.bin
expect 0 'e4 +e2e4 +6 100.00 %' show two.bin
expect 0 'Polyglot, 3 entries in 3 positions, in order' check two.bin
expect 1 'no move passes the rules' make one.bin games.pgn
expect 2 "'win' is not points, share or uniform" make --scoring win one.bin games.pgn
expect 2 '--plies: .x. is not a whole number' make --plies x one.bin games.pgn
expect 2 "unknown option '--ply'" make --ply 3 one.bin games.pgn
expect 1 'nowhere.pgn: No such file' make one.bin nowhere.pgn
expect 1 'whole number of Polyglot entries' show lines.epd
expect 1 'FEN' show one.bin nonsense
head -c 40 one.bin >cut.bin
expect 1 'cut.bin: 40 bytes are not' check cut.bin
expect 1 '2 valid openings, 1 bad, 1 repeated' check lines.epd
expect 1 'line 2: ' check lines.epd

expect 0 '^30 positions from [0-9]+ walks' suite --count 30 --nodes 300 --seed 9 --threads 2 a.epd
expect 0 'score from White: mean' suite --count 30 --nodes 300 --seed 9 --threads 1 b.epd
expect 0 '30 valid openings, 0 bad, 0 repeated' check a.epd
expect 0 '0 in check, 0 with a mate in one' check a.epd
cmp a.epd b.epd || failures=$((failures + 1))
expect 0 'double Chess960' suite --dfrc --count 10 --nodes 300 c.epd
expect 0 '10 valid openings, 0 bad' check c.epd
expect 2 "--window: '5' is not LOW:HIGH" suite --window 5 d.epd
expect 2 "--window: '4294967296:10' is not LOW:HIGH" suite --window 4294967296:10 d.epd
expect 2 "--window: '10:5' is not LOW:HIGH" suite --window 10:5 d.epd
expect 2 '--dfrc takes no value' suite --dfrc=false d.epd
expect 2 "unknown option '-count'" suite -count 1 d.epd
expect 1 'nowhere/d.epd.*No such file' suite --count 1 nowhere/d.epd
expect 1 'a directory' suite --count 1 .

# What is there and is something else stays; what is no regular file is written to; lost output is a failure.
cp games.pgn precious.pgn
expect 1 'precious.pgn: is there and is no Polyglot book' make --min-games 1 precious.pgn games.pgn
expect 1 'a.epd: is there and is no Polyglot book' merge a.epd one.bin one.bin
expect 1 'precious.pgn: is there and is no file of positions' suite --count 1 --nodes 10 precious.pgn
cmp games.pgn precious.pgn || failures=$((failures + 1))
expect 0 '3 moves in 3 positions' make --min-games 1 one.bin games.pgn
[ "$("$bin" merge /proc/self/fd/1 one.bin one.bin | head -c 48 | cmp - two.bin 2>&1)" = "" ] || failures=$((failures + 1))
for lost in 'merge /proc/self/fd/1 one.bin one.bin' 'show one.bin' 'suite --count 1 --nodes 10'; do
    output=$({ "$bin" $lost >/dev/full; } 2>&1) && failures=$((failures + 1))
    grep -q 'No space left' <<<"$output" || failures=$((failures + 1))
done

# One bad file does not hide the next; a byte order mark, CRLF and a missing last line end are no fault.
expect 1 '1 valid openings' check nowhere.epd good.epd
expect 1 'empty.epd: the file is empty' check empty.epd good.epd
expect 0 '2 valid openings, 0 bad' check bom.epd
expect 1 'UTF-16' check wide.epd
checks=$((checks + 5))

echo "$checks checks, $failures failures"
[ $failures = 0 ]
