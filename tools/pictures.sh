#!/bin/sh
# Takes the pictures of docs/guide anew and replaces those that look different.
set -eu
cd "$(dirname "$0")/.."
[ -f build-pictures/build.ninja ] || meson setup build-pictures -Ddashboard=enabled >/dev/null
tools/ninja.sh build-pictures src/app/impound
IMPOUND=$PWD/build-pictures/src/app/impound TAKE_PICTURES=1 tools/web_test.sh tests/web/test_09_guide.py
git status --short docs/guide
