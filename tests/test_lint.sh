#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The checks of scripts/ find what they are there to find: each offence is planted in a small tree and must be named.
set -u
scripts=$(cd "$(dirname "$0")/../scripts" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{scripts,engine,match,build/x/engine}
cp "$scripts"/check_* "$tree/scripts/"
cd "$tree" || exit 1
failed=0
spdx='// SPDX-License-Identifier: GPL-3.0-or-later'

# expect NAME CHECK TEXT [ARGUMENT]: the check must fail and print the text; `clean` as text: it must pass.
expect() {
    local output status
    output=$("scripts/$2" ${4:-} 2>&1)
    status=$?
    if [ "$3" = clean ]; then [ $status = 0 ]; else [ $status != 0 ] && grep -qF -- "$3" <<<"$output"; fi && return
    echo "$1: $2 gave status $status and: $output"
    failed=1
}

good() {
    printf '%s\n// A header.\n#pragma once\n\n// One.\nint one(void);\n' "$spdx" >engine/a.h
    printf '%s\n#include "engine/a.h"\nint one(void) { return 1; }\n' "$spdx" >engine/a.c
    printf '%s\n#include "engine/a.h"\n' "$spdx" >match/b.c
    rm -f engine/b.h
}

good
for check in check_spdx check_layers check_header_comments; do expect good $check clean; done
echo 'int x;' >engine/a.c && expect spdx check_spdx "engine/a.c: no SPDX line"
good && echo '#include "match/b.h"' >>engine/a.c && expect upwards check_layers "engine must not include match/b.h"
good && echo '#include "a.h"' >>match/b.c && expect folder check_layers '"a.h" does not name its folder'
good && echo '#include <cjson/cJSON.h>' >>engine/a.c && expect library check_layers "does without GSL and cJSON"
good && echo 'int two(void);' >>engine/a.h && expect second check_header_comments "engine/a.h:7: no comment above this function"
good && printf '\nstruct S {\n    int x;\n};\n' >>engine/a.h && expect type check_header_comments "engine/a.h:8: no comment"
good && printf '%s\n#pragma once\n' "$spdx" >engine/b.h && expect opening check_header_comments "engine/b.h:2: no description"

compile() { echo "$1" | ${CC:-gcc} -O1 -fPIE -x c -c - -o build/x/engine/g.o; }
globals() { compile "$2" && expect "$1" check_globals "$3" build/x/engine/g.o; }
globals const 'extern const char *const Names[]; const char *const Names[] = {"a", "b"};' clean
globals bss 'extern int count; int count;' "count is writable"
globals data 'extern int count; int count = 3;' "count is writable"
globals pointers 'extern const char *names[]; const char *names[] = {"a"};' "names is writable"
globals thread 'extern _Thread_local int mine; _Thread_local int mine;' "mine is writable"
globals local 'int next(void); int next(void) { static int n; return n++; }' "static local"
exit $failed
