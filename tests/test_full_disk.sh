#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# A disk that is full in the middle of a match: the match waits and says so; with room again it goes on, and not a pair
# is missing from the journal or the PGN. The disk is a small tmpfs in a namespace of our own.
set -u
home=${HONE_BIN:-$PWD}
if [ "${1:-}" != inside ]; then
    unshare -rm true 2>/dev/null || { echo "skipped: no namespaces here"; exit 77; }
    exec unshare -rm bash "$0" inside
fi
fail() { echo "test_full_disk: $1"; cat "$work/log" 2>/dev/null | tail -5; [ -n "${match:-}" ] && kill -9 "$match" 2>/dev/null; exit 1; }
work=$(mktemp -d)
trap 'kill -9 ${match:-} 2>/dev/null; umount -l "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
mkdir "$work/disk" && mount -t tmpfs -o size=2m none "$work/disk" || { echo "skipped: no tmpfs here"; exit 77; }
play() { "$home/hone-match" -engine cmd=builtin name=A -engine cmd=builtin name=B option.LmrBase=60 -each nodes=20 -rounds 60 \
    -openings file="$home/openings/balanced.epd" order=random -maxmoves 30 -srand 7 -concurrency 2 -ratinginterval 0 -quiet "$@"; }

# As it should be.
play -journal "$work/reference" -pgnout file="$work/reference.pgn" >"$work/log" 2>&1 || fail "the match alone fails"
# With room for the beginning alone.
dd if=/dev/zero of="$work/disk/filler" bs=1k count=2032 2>/dev/null
play -journal "$work/disk/journal" -pgnout file="$work/disk/games.pgn" >"$work/log" 2>&1 &
match=$!
for _ in $(seq 300); do
    grep -q "No space left" "$work/log" && break
    kill -0 $match 2>/dev/null || break
    sleep 0.1
done
grep -q "No space left" "$work/log" || fail "nothing was said about the full disk"
if kill -0 $match 2>/dev/null; then # it waits
    pairs=$(grep -c '"pair"' "$work/disk/journal")
    rm "$work/disk/filler"
    wait $match || fail "the match did not go on"
else # it stopped: the same command continues
    pairs=$(grep -c '"pair"' "$work/disk/journal")
    rm "$work/disk/filler"
    play -journal "$work/disk/journal" -pgnout file="$work/disk/games.pgn" >>"$work/log" 2>&1 || fail "the match did not continue"
fi
[ "$pairs" -gt 0 ] || fail "no pair was written before the disk was full: the test is too small"
reference=$("$home/hone-match" digest "$work/reference") || fail "no digest"
digest=$("$home/hone-match" digest "$work/disk/journal") || fail "no digest of the journal on the full disk"
[ "$reference" = "$digest" ] || fail "the digests differ: $reference / $digest"
timeless() { sed -E '/^\[(Date|GameDuration|GameStartTime|GameEndTime) /d' "$1" | tr '\n' ' ' | sed -E 's/ [0-9.]+s([},])/\1/g'; }
cmp <(timeless "$work/reference.pgn") <(timeless "$work/disk/games.pgn") || fail "the PGN differs"
echo "full disk: $pairs of 60 pairs before, all after"
