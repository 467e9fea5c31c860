#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Fuzzes the loaders of FEN, EPD, PGN, Polyglot and net files with libFuzzer under ASan and UBSan, one after the other.
# Inputs that break something stay in build/fuzz/; new finds stay there too (tests/corpus/ is only read).
#
#   [FUZZ_SECONDS=600] [FUZZ_TIMEOUT=10] tests/long_fuzz.sh [fen|epd|pgn|polyglot|net]...
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-600}
command -v clang >/dev/null || { echo "skipped: no clang"; exit 0; }
flags=(-std=gnu11 -I. -O1 -g -march=native -DHONE_DEBUG -fno-omit-frame-pointer
    -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all)
rules=(engine/{util,bitboard,position,fen,polyglot,movegen,notation,book}.c)
sources=("${rules[@]}" engine/{net,nnue,nnue_scalar,nnue_sse41,nnue_avx2,nnue_trace}.c engine/nnue_data.S
    openings/{pgn,pgn_read,opening}.c)
mkdir -p build/fuzz
[ $# -gt 0 ] || set -- fen epd pgn polyglot net
for name; do
    mkdir -p "build/fuzz/$name"
    clang "${flags[@]}" "tests/fuzz_$name.c" "${sources[@]}" -lm -o "build/fuzz/fuzz_$name"
    # Leaks are looked for by libFuzzer itself; 512 MB and 10 s are far more than any input should need.
    "build/fuzz/fuzz_$name" -max_total_time="$seconds" -timeout="${FUZZ_TIMEOUT:-10}" -rss_limit_mb=512 -print_final_stats=1 \
        -verbosity=0 -artifact_prefix="build/fuzz/$name-" "build/fuzz/$name" "tests/corpus/$name" 2>"build/fuzz/$name.log" ||
        { tail -40 "build/fuzz/$name.log"; echo "fuzz_$name: FAILED"; exit 1; }
    echo "fuzz_$name: $seconds s, $(sed -n 's/^stat::number_of_executed_units: *//p' "build/fuzz/$name.log") inputs, no fault"
done
