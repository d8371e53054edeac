#!/bin/sh
# Every test, in one build with AddressSanitizer and UndefinedBehaviorSanitizer.
#   tools/test.sh check   unit, table, contract, simulation and fuzz corpora: about a minute
#   tools/test.sh all     those, the end-to-end scenarios, and the dashboard in a browser
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-/usr/bin/python3}
tree=$(git status --porcelain 2>/dev/null || true)

echo "impound: building with AddressSanitizer and UndefinedBehaviorSanitizer in build-test/"
[ -f build-test/build.ninja ] ||
    meson setup build-test -Db_sanitize=address,undefined -Db_lundef=false >build-test.log 2>&1 ||
    { cat build-test.log; exit 1; }
rm -f build-test.log
ninja -C build-test --quiet

export ASAN_OPTIONS="detect_leaks=1:quarantine_size_mb=16:${ASAN_OPTIONS:-}"
export UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1"
echo "impound: rooms, then unit, table, contract, simulation and fuzz tests"
$python tools/rooms.py check src
meson test -C build-test --print-errorlogs --no-rebuild

[ "${1:-all}" = check ] && exit 0
# They mostly wait, so two files go side by side where pytest can do that.
beside=
! $python -c 'import xdist' 2>/dev/null || beside="-n 2 --dist loadfile"
echo "impound: end-to-end scenarios against build-test/src/app/impound"
# shellcheck disable=SC2086 # words
IMPOUND=$PWD/build-test/src/app/impound $python -m pytest -q -p no:cacheprovider $beside tests/e2e
echo "impound: the dashboard, in Chromium"
IMPOUND=$PWD/build-test/src/app/impound tools/web_test.sh

# Tests write into temporary folders and build folders alone.
now=$(git status --porcelain 2>/dev/null || true)
if [ "$now" != "$tree" ]; then
    printf 'impound: THE TREE CHANGED during the tests; git status said\n%s\nand says now\n%s\n' "$tree" "$now" >&2
    [ "${CI:-}" != true ] || exit 1
fi
