#!/bin/sh
# Fetches what the tests need and Debian does not have, once, into build-parts/: Apache Kafka and Kafka Connect
# as jars, by Maven; Python clients of brokers and the official messages of OTLP, by pip; client libraries whose
# exceptions tests/clients raises (tools/clients), by pip, npm, Maven and go; job queues and listeners that
# tests/frameworks runs (tools/frameworks); schemathesis, Flask and FastAPI (tools/packages), by pip. With CI=true it
# is a failure when one cannot be had; elsewhere it is said loudly and what needs it is skipped.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-/usr/bin/python3}
parts=build-parts
kafka=3.9.1
confluent_kafka=2.16.1
nats_py=2.16.0
opentelemetry_proto=1.38.0
protobuf=6.33.2

# have NAME COMMAND…: the command fills the folder that stands behind it.
have() {
    name=$1
    shift
    [ ! -d "$parts/$name" ] || return 0
    echo "impound: fetching $name"
    mkdir -p "$parts"
    rm -rf "$parts/$name.new"
    if "$@" "$parts/$name.new" >"$parts/$name.log" 2>&1 && [ -d "$parts/$name.new" ]; then
        mv "$parts/$name.new" "$parts/$name"
        return 0
    fi
    echo "impound: could not fetch $name; $parts/$name.log says why" >&2
    [ "${CI:-}" != true ]
}

jars() {
    mvn --batch-mode --quiet --file "tools/kafka/$1" "-Dkafka.version=$kafka" \
        dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$PWD/$2"
}

client() {
    $python -m pip install --quiet --disable-pip-version-check --no-deps --target "$2" "$1"
}

# Each under a name that changes with the file that names the packages.
python_packages() {
    $python -m pip install --quiet --disable-pip-version-check --no-deps --target "$2" --requirement "$1"
}

node_parts() {
    mkdir -p "$2" && cp "$1/package.json" "$1/package-lock.json" "$2" &&
        (cd "$2" && npm ci --no-audit --no-fund --ignore-scripts --loglevel=error)
}

java_parts() {
    mvn --batch-mode --quiet --file "$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
        "-DoutputDirectory=$PWD/$2"
}

go_clients() {
    mkdir -p "$1" && (cd tests/clients/go && CGO_ENABLED=0 go build -o "$OLDPWD/$1/raise_go" .)
}

sum_of() {
    cat "$@" | sha256sum | cut -c1-12
}

have "kafka-$kafka" jars pom.xml
have "connect-$kafka" jars connect.xml
have "confluent-kafka-$confluent_kafka" client "confluent-kafka==$confluent_kafka"
have "nats-py-$nats_py" client "nats-py==$nats_py"
have "opentelemetry-proto-$opentelemetry_proto" client "opentelemetry-proto==$opentelemetry_proto"
have "protobuf-$protobuf" client "protobuf==$protobuf"
for set in clients frameworks; do
    have "python-$set-$(sum_of "tools/$set/requirements.txt")" python_packages "tools/$set/requirements.txt"
    have "node-$set-$(sum_of "tools/$set/package-lock.json")" node_parts "tools/$set"
    have "java-$set-$(sum_of "tools/$set/pom.xml")" java_parts "tools/$set"
done
have "schemathesis-$(sum_of tools/packages/schemathesis.txt)" python_packages tools/packages/schemathesis.txt
have "web-frameworks-$(sum_of tools/packages/web-frameworks.txt)" python_packages tools/packages/web-frameworks.txt
have "go-clients-$(cd tests/clients/go && sum_of go.mod go.sum main.go)" go_clients
