#!/bin/sh
# What a machine can say about how the code reads.
set -eu
cd "$(dirname "$0")/.."
fail=0
git ls-files '*.c' '*.h' | xargs clang-format --dry-run --Werror || fail=1
/usr/bin/python3 tools/rooms.py check src || fail=1
/usr/bin/python3 tools/names.py src || fail=1
/usr/bin/python3 tools/call_cycles.py check src || fail=1
# A message's state is changed by core/lifecycle.c alone; the store decodes it from what it has stored.
if git grep -nE 'envelope(->|\.)state = ' -- src ':!src/core/lifecycle.c' ':!src/store'; then
    echo "lint: a message's state is written outside core/lifecycle.c"
    fail=1
fi
git ls-files '*.sh' .ci/run | xargs shellcheck || fail=1
mandoc -Tlint -Wwarning packaging/impound.1 >/dev/null || fail=1
[ ! -d web/node_modules ] || npm --prefix web run --silent check || fail=1
exit $fail
