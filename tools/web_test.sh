#!/bin/sh
# The dashboard in Debian's Chromium, against the server that IMPOUND names.
#   tools/web_test.sh [pytest's words]
# Playwright comes from PyPI into build-web/; it brings no browser of its own. With CI=true what is missing is a
# failure; elsewhere it is said loudly and the tests are left out.
set -eu
cd "$(dirname "$0")/.."
home=$PWD/build-web

skip() {
    echo "impound: THE DASHBOARD IS NOT TESTED: $1" >&2
    [ "${CI:-}" = true ] && exit 1
    exit 0
}

command -v "${CHROMIUM:-chromium}" >/dev/null || skip "chromium is missing (Debian package chromium)"
[ -f web/node_modules/axe-core/axe.min.js ] || skip "web/node_modules is missing: the dashboard was not built"
if ! cmp -s tests/web/requirements.txt "$home/requirements.txt"; then
    { /usr/bin/python3 -m venv --system-site-packages "$home" &&
        "$home/bin/pip" install --quiet --disable-pip-version-check -r tests/web/requirements.txt; } ||
        skip "playwright cannot be installed (tests/web/requirements.txt)"
    cp tests/web/requirements.txt "$home/"
fi
# They mostly wait, so two files go side by side where pytest can do that.
beside=
! "$home/bin/python" -c 'import xdist' 2>/dev/null || beside="-n 2 --dist loadfile"
# shellcheck disable=SC2086 # words
"$home/bin/python" -m pytest -q -p no:cacheprovider $beside "${@:-tests/web}"
