#!/bin/sh
# Makes a static library of one object, in which the public names alone are global.
#   tools/merge.sh OUTPUT FOLDER OBJECT… ARCHIVE…
# The objects are taken whole, of the archives what the objects need.
set -eu
output=$1 folder=$2
shift 2
mkdir -p "$folder"
ld -r -o "$folder/impound.o" --start-group "$@" --end-group
objcopy --wildcard --keep-global-symbol='impound_*' "$folder/impound.o"
rm -f "$output"
ar rcs "$output" "$folder/impound.o"
