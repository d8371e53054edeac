#!/bin/sh
# What `make test` has no time for: full counts, ThreadSanitizer, valgrind, and the simulator for
# SECONDS_OF_SOAK seconds. Every part runs, also after one has failed; the end sums up.
# shellcheck disable=SC2317 # parts are called by name
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-/usr/bin/python3}
seconds=${SECONDS_OF_SOAK:-600}
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0

# part NAME COMMAND…: runs it, shows its output, and notes how long it took and how it ended.
part() {
    name=$1
    shift
    echo "impound: $name"
    began=$(date +%s)
    end=passed
    "$@" >"$folder/out" 2>&1 || end=FAILED
    [ "$end" = passed ] || failed=1
    if [ "$end" = passed ]; then tail -n 3 "$folder/out"; else cat "$folder/out"; fi
    printf '%-52s %6s s  %-6s  %s\n' "$name" "$(($(date +%s) - began))" "$end" \
        "$(grep -E '^Ok: |[0-9]+ passed|seeds, ' "$folder/out" | tail -n 1 | tr -s ' =' ' ')" >>"$folder/summary"
}

# scenarios BUILD WORDS…: end-to-end scenarios against that build.
scenarios() (
    export IMPOUND="$root/$1/src/app/impound"
    shift
    $python -m pytest -q -p no:cacheprovider tests/e2e "$@"
)

full_scenarios() (
    export SCALE=1
    scenarios build
)

build() {
    [ -f "$1/build.ninja" ] || meson setup "$@"
    ninja -C "$1"
}

# The names of unit and contract tests that are programs of ours, not scripts: one a line. Without those of
# handlers that watch processes by pidfd, which valgrind 3.19 does not know, and without jq's own: libjq 1.6
# loses what `index` looks at.
programs() {
    meson introspect --tests "$1" | $python -c '
import json, sys
LEFT_OUT = ("handler exec", "handler stream", "jq run")
for test in json.load(sys.stdin):
    ours = "/tests/unit/" in test["cmd"][0] or "/tests/contract/" in test["cmd"][0]
    if ours and not test["cmd"][0].endswith(".py") and not test["name"].startswith(LEFT_OUT):
        print(test["name"])'
}

under_valgrind() {
    programs build | tr '\n' '\0' |
        xargs -0 meson test -C build --no-rebuild --print-errorlogs --timeout-multiplier 40 --wrap "$valgrind"
}

server_under_valgrind() (
    export SERVER_UNDER="$valgrind" PATIENCE_S=300
    scenarios build -k "(bodies and not exec and not rotation) or verdict or reports or duplicate"
)

under_tsan() {
    meson test -C build-tsan --no-rebuild --print-errorlogs --timeout-multiplier 20 \
        --suite unit --suite table --suite contract
}

valgrind="valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite --error-exitcode=1"
export TSAN_OPTIONS="exitcode=66"
# librdkafka starts its threads by thrd_create, which the sanitizer of gcc 12 does not see: it dies of them.
racing="(seeds_run or credentials or killer or bodies or rules or reports or caps) and not kafka"
seed=$(date +%s)000

part "the ordinary build" build build
part "the build that is installed, no warning" build build-release --buildtype release -Dtests=false
part "end-to-end scenarios, full counts" full_scenarios
part "the build with ThreadSanitizer" build build-tsan -Db_sanitize=thread -Db_lundef=false
part "unit, table and contract tests, ThreadSanitizer" under_tsan
part "simulator, 200 seeds, ThreadSanitizer" build-tsan/tests/sim/sim --seeds 200
part "end-to-end scenarios, ThreadSanitizer" scenarios build-tsan -k "$racing"
part "unit and contract tests, valgrind" under_valgrind
part "end-to-end scenarios, the server under valgrind" server_under_valgrind
part "damaged stores from seed $seed" build/tests/fuzz/fuzz_store tests/fuzz/corpus/store 3000 "$seed"
part "simulator from seed $seed, $seconds s" build/tests/sim/sim --seconds "$seconds" --from "$seed"

echo
cat "$folder/summary"
exit $failed
