#!/bin/sh
# Installs the Debian packages that a purpose needs and that are missing; for the tests also what Debian
# does not have (tools/fetch.sh).
#   tools/install.sh build|test|soak|lint
# With CI=true a package that cannot be installed is a failure; elsewhere it is said loudly and what
# needs it is skipped.
set -eu

build="gcc libc6-dev meson ninja-build pkg-config python3 libsqlite3-dev libcurl4-openssl-dev libmicrohttpd-dev
libfyaml-dev libhiredis-dev libjq-dev libnats-dev libpcre2-dev libprotobuf-c-dev librabbitmq-dev
librdkafka-dev libsodium-dev libssl-dev libzstd-dev protobuf-c-compiler zlib1g-dev"
# For the dashboard; one who has node from elsewhere keeps it.
command -v npm >/dev/null || build="$build nodejs npm"
test="$build g++ abigail-tools libcmocka-dev libjansson-dev python3-pytest python3-pytest-xdist openssl curl zstd sqlite3 mandoc prometheus prometheus-alertmanager redis-server
rabbitmq-server python3-pika python3-protobuf python3-redis ruby-sidekiq nats-server maven python3-pip python3-venv"
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

echo "impound: installing Debian packages:$missing"
as_root=""
[ "$(id -u)" = 0 ] || as_root="sudo"
if [ -n "$as_root" ] && ! command -v sudo >/dev/null; then
    echo "impound: not root and no sudo; as root run: apt-get install -y$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
# Debian starts servers that it installs; the tests start their own, so none is wanted.
# shellcheck disable=SC2086 # words on purpose
if $as_root env RUNLEVEL=1 apt-get update -q >/dev/null &&
    $as_root env RUNLEVEL=1 apt-get install -q -y --no-install-recommends $missing >/dev/null; then
    finish "$1"
fi
echo "impound: could not install:$missing" >&2
[ "${CI:-}" = true ] && exit 1
exit 0
