#!/bin/sh
# Builds an OpenTelemetry collector of its official parts, once, into build-parts/, for the test that tries
# our spans with it (tests/e2e/test_65_telemetry.py). Needs Go, about 1 GB and some minutes, so no other
# script calls it; without it that test is skipped.
set -eu
cd "$(dirname "$0")/.."
version=0.156.0
folder=build-parts/otelcol-$version
[ ! -x "$folder/otelcol" ] || exit 0
command -v go >/dev/null || {
    echo "impound: no go, which builds the collector" >&2
    exit 1
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/parts.yaml" <<PARTS
dist: {name: otelcol, output_path: $work/otelcol, otelcol_version: $version}
receivers:
  - gomod: go.opentelemetry.io/collector/receiver/otlpreceiver v$version
exporters:
  - gomod: go.opentelemetry.io/collector/exporter/debugexporter v$version
  - gomod: go.opentelemetry.io/collector/exporter/otlphttpexporter v$version
PARTS
go run "go.opentelemetry.io/collector/cmd/builder@v$version" --config "$work/parts.yaml"
mkdir -p "$folder"
mv "$work/otelcol/otelcol" "$folder/otelcol"
