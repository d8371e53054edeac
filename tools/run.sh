#!/bin/sh
# Starts the server with the embedded store and a small live example: orders arrive, some need a
# retry, one in ten is poison. Data lives in build/run/. SIGINT, SIGTERM and
# a closed terminal end it with 0.
# IMPOUND names another binary, RUN_HOME another folder, RUN_LISTEN another address.
set -eu
cd "$(dirname "$0")/.."
impound=${IMPOUND:-$PWD/build/impound}
home=${RUN_HOME:-$PWD/build/run}
listen=${RUN_LISTEN:-127.0.0.1:7070}
export IMPOUND_URL="http://$listen"
if "$impound" queues >/dev/null 2>&1; then
    echo "impound: a server runs at $IMPOUND_URL already; stop that first" >&2
    exit 1
fi
mkdir -p "$home"
cp examples/orders/price.py "$home/"
sed "s/127\.0\.0\.1:7070/$listen/" examples/orders/impound.yaml >"$home/impound.yaml"

"$impound" serve -c "$home/impound.yaml" &
server=$!
# Ctrl-C has reached the server already, and a second signal would stop it without draining; after SIGTERM it must be
# told.
finish() {
    trap '' INT TERM HUP
    [ "$1" = INT ] || kill $server 2>/dev/null || true
    wait $server || true
    exit 0
}
trap 'finish INT' INT
trap 'finish TERM' TERM HUP
until "$impound" queues >/dev/null 2>&1; do
    kill -0 $server 2>/dev/null || { wait $server || true; exit 1; }
    sleep 0.1
done

run=$(date +%s)
push() {
    "$impound" push orders "$2" --id "$1" >/dev/null
}
push "o-1.$run" '{"pin":"BAD"}'
push "o-2.$run" '{"pin":"560001","trip":2}'
push "o-3.$run" '{"pin":"110001"}'

cat <<TEXT

impound runs. Three orders were pushed: one is fine, one succeeds at its third attempt, one is a bug
and is now a dead letter. More follow, one every two seconds.

  a tour        $impound demo
  in a browser  $IMPOUND_URL/
  queues        $impound queues
  dead letters  $impound ls orders.dlq
  one of them   $impound show o-1.$run
  and why       $impound explain o-1.$run
  metrics       curl $IMPOUND_URL/metrics

Stop with Ctrl-C.

TEXT

count=0
while kill -0 $server 2>/dev/null; do
    count=$((count + 1))
    case $((count % 10)) in
    0) push "live-$run-$count" '{"pin":"BAD"}' || true ;;
    5) push "live-$run-$count" '{"pin":"400001","trip":1}' || true ;;
    *) push "live-$run-$count" '{"pin":"110001"}' || true ;;
    esac
    sleep 2 &
    wait $! || true
done
wait $server
