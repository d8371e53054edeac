#!/bin/sh
# Builds targets with ninja and shows how far it is: ninja's own status line on a terminal, elsewhere a line for every
# tenth part.
#   tools/ninja.sh FOLDER TARGET…
set -eu
folder=$1
shift
if [ -t 1 ]; then
    NINJA_STATUS='impound: building %f of %t ' exec ninja -C "$folder" "$@"
fi

# Reads ninja's lines "@done @total …" and passes everything else on.
tell_steps() {
    told=-1
    while IFS= read -r line; do
        case "$line" in
        @*)
            rest=${line#@}
            count=${rest%% *}
            rest=${rest#*@}
            total=${rest%% *}
            tenth=$((count * 10 / total))
            [ "$tenth" = "$told" ] || echo "impound: built $count of $total"
            told=$tenth
            ;;
        "ninja: Entering directory"* | "ninja: no work to do."*) ;;
        *) printf '%s\n' "$line" ;;
        esac
    done
}
code=$(mktemp)
trap 'rm -f "$code"' EXIT
{
    NINJA_STATUS='@%f @%t ' ninja -C "$folder" "$@" || echo $? >"$code"
} | tell_steps
[ ! -s "$code" ] || exit "$(cat "$code")"
