#!/bin/sh
# Installs the Debian packages that a purpose needs and that are missing; for the tests also what Debian
# does not have (tools/fetch.sh).
#   tools/install.sh build|test|soak|lint
# With CI=true a package that cannot be installed is a failure; elsewhere it is said loudly and what
# needs it is skipped.
set -eu

build="make gcc libc6-dev curl meson ninja-build pkg-config python3 python3-yaml libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev
libfyaml-dev libhiredis-dev libjq-dev libnats-dev libpcre2-dev libprotobuf-c-dev librabbitmq-dev
librdkafka-dev libsodium-dev libssl-dev libzstd-dev protobuf-c-compiler zlib1g-dev"
# For the dashboard; one who has node from elsewhere keeps it.
command -v npm >/dev/null || build="$build nodejs npm"
test="$build g++ abigail-tools libcmocka-dev libjansson-dev python3-pytest python3-pytest-xdist openssl curl zstd sqlite3 mandoc prometheus prometheus-alertmanager redis-server
rabbitmq-server python3-pika python3-protobuf python3-redis ruby-sidekiq nats-server maven python3-pip python3-venv jq"
test="$test default-jdk-headless ruby-faraday"
command -v go >/dev/null || test="$test golang-go"
command -v chromium >/dev/null || test="$test chromium"
soak="$test valgrind clang libclang-rt-14-dev"
lint="$build clang-format shellcheck mandoc"

case "${1:-}" in
build) wanted=$build ;;
test) wanted=$test ;;
soak) wanted=$soak ;;
lint) wanted=$lint ;;
*)
    echo "usage: tools/install.sh build|test|soak|lint" >&2
    exit 2
    ;;
esac

missing=""
for package in $wanted; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
# What Debian does not have comes last: it needs some of the packages.
finish() {
    case "$1" in
    test | soak) exec "$(dirname "$0")/fetch.sh" ;;
    *) exit 0 ;;
    esac
}
[ -n "$missing" ] || finish "$1"

if ! command -v apt-get >/dev/null; then
    echo "impound: there is no apt-get; install what these Debian packages hold, if it is missing:$missing" >&2
    [ "${CI:-}" = true ] && exit 1
    finish "$1"
fi
# shellcheck disable=SC2086 # words on purpose
echo "impound: installing $(echo $missing | wc -w) Debian packages and what they need, which may take some minutes:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
    echo "impound: not root and no sudo; as root run: apt-get install -y$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive

# Reads apt's status lines, dlstatus:ITEM:PERCENT:TEXT and pmstatus:PACKAGE:PERCENT:TEXT, where a package may have its
# own colon, and prints a line for every tenth part.
tell_steps() {
    told=
    while IFS= read -r line; do
        case "$line" in
        dlstatus:*) what=downloaded ;;
        pmstatus:*) what=installed ;;
        *) continue ;;
        esac
        percent=$(printf '%s' "$line" | sed -n 's/^[^:]*:.*:\([0-9][0-9]*\)\.[0-9]*:.*/\1/p')
        [ -n "$percent" ] || continue
        [ "$what$((percent / 10))" = "$told" ] || echo "impound: packages $what $percent %"
        told=$what$((percent / 10))
    done
}

# Status lines come on standard output, because sudo closes other descriptors.
install_packages() {
    code=$(mktemp)
    {
        # shellcheck disable=SC2086 # words on purpose
        $as_root env RUNLEVEL=1 LC_ALL=C apt-get install -q -y --no-install-recommends -o APT::Status-Fd=1 $missing ||
            echo failed >"$code"
    } | tell_steps
    failed=$(cat "$code")
    rm -f "$code"
    [ -z "$failed" ]
}
# Debian starts servers that it installs; the tests start their own, so none is wanted.
if $as_root env RUNLEVEL=1 apt-get update -q >/dev/null && install_packages; then
    finish "$1"
fi
echo "impound: could not install:$missing" >&2
[ "${CI:-}" = true ] && exit 1
exit 0
