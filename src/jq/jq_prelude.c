/* jq_prelude: jq definitions that let programs handle marked numbers (jq_exact.h). */
#include "jq/jq_prelude.h"

/* Functions on text, with 0 to 3 arguments: a marked number is neither text nor a pattern to them.
 */
#define OF_TEXT_0(f) "def _im_" f ": " f "; def " f ": _im_text | _im_" f ";"
#define OF_TEXT_1(f)                                                                               \
    "def _im_" f "(a): " f "(a); def " f "(a): (a | _im_text) as $a | _im_text | _im_" f "($a);"
#define OF_TEXT_2(f)                                                                               \
    "def _im_" f "(a; b): " f "(a; b);"                                                            \
    "def " f "(a; b): (a | _im_text) as $a | _im_text | _im_" f "($a; b);"
#define OF_TEXT_3(f)                                                                               \
    "def _im_" f "(a; b; c): " f "(a; b; c);"                                                      \
    "def " f "(a; b; c): (a | _im_text) as $a | _im_text | _im_" f "($a; b; c);"

/* Text that is converted to numbers. A number that a double cannot hold becomes a marked number.
 * _im_spell is jq_number_put in jq. A JSON text is split at its quotes; a piece outside of strings
 * has at most one number between two commas. It is parsed unchanged first, so that its errors are
 * jq's own. */
#define OF_NUMBERS                                                                                 \
    "def _im_long: _im_type == \"string\" and "                                                    \
    "test(\"[0-9.]{16}|[eE][-+]?[0-9]{3}\"); def _im_trim: gsub(\"[[:space:]]\"; \"\");"           \
    "def _im_is_number: test(\"^[[:space:]]*-?[0-9]*[.]?[0-9]*([eE][-+]?[0-9]+)?[[:space:]]*$\");" \
    "def _im_spell: capture(\"^(?<s>-?)(?<i>[0-9]*)[.]?(?<f>[0-9]*)([eE][+]?(?<e>-?[0-9]+))?$\") " \
    "| (.s // \"\") as $s | (.i // \"\") as $i | ($i + (.f // \"\")) as $all | "                   \
    "($all | sub(\"^0+\"; \"\")) as $tail | ($tail | sub(\"0+$\"; \"\")) as $d | ($d | length) "   \
    "as $n | "                                                                                     \
    "((.e // \"0\" | tonumber) + ($i | length) - ($all | length) + ($tail | length)) as $x | "     \
    "$s + if $n == 0 then \"0\" elif $x == $n then $d "                                            \
    "elif $x > $n and $x <= 64 then $d + \"0\" * ($x - $n) "                                       \
    "elif $x > 0 and $x < $n then $d[:$x] + \".\" + $d[$x:] "                                      \
    "else $d[:1] + (if $n > 1 then \".\" + $d[1:] else \"\" end) + \"e\" + ($x - 1 | tojson) end;" \
    "def _im_number: tonumber as $n | _im_spell as $s | "                                          \
    "if ($n | tojson | _im_spell) == $s then $n else \"~\" + $s + \"~\" end;"                      \
    "def _im_mark: if _im_long then sub(\"(?<n>-?[0-9]+([.][0-9]+)?([eE][-+]?[0-9]+)?)\"; "        \
    ".n as $n | $n | _im_number | if type == \"string\" then tojson else $n end) else . end;"      \
    "def _im_mark_all: [foreach split(\"\\\"\")[] as $p ({inside: true}; "                         \
    "{inside: (.inside == .escaped)} | .escaped = (.inside and ($p | endswith(\"\\\\\") and "      \
    "(match(\"\\\\\\\\+$\").length % 2 == 1))); if .inside or ($p | utf8bytelength) < 5 then $p "  \
    "else ($p | split(\",\") | map(_im_mark) | join(\",\")) end)] | join(\"\\\"\");"               \
    "def _im_from_json: if _im_long then fromjson as $read | _im_mark_all | fromjson else "        \
    "fromjson end;"

/* Operators are calls of _plus and so on, so that a definition of that name replaces them. `b`
 * before `a` is the order in which jq itself evaluates the two sides. */
const char jq_prelude[] =
    "def _im_type: type; def _im_json: tojson; def _im_format(f): format(f);"
    "def _im_length: length; def _im_tonumber: tonumber; def _im_sort: sort;"
    "def _im_sort_by(f): sort_by(f); def _im_min: min; def _im_max: max;"
    "def _im_min_by(f): min_by(f); def _im_max_by(f): max_by(f);"
    "def _im_big: (_im_type == \"string\") and startswith(\"~\") and endswith(\"~\");"
    "def _im_any: any(..; _im_big);"
    "def _im_strip: if _im_big then .[16:-16] else . end;"
    "def _im_refuse: error(\"computes with \" + .);"
    "def _im_refuse_any: if _im_any then (first(.. | select(_im_big)) | _im_refuse) else . end;"
    "def _im_literal(f): f;" OF_NUMBERS
    "def _im_pair(a; b): b as $b | a as $a | ([$a, $b][] | select(_im_big) | _im_refuse), [$a, $b];"
    "def _im_unquote: split(\"\\\"~\") | .[0] + ([.[1:][] | split(\"~\\\"\") | .[0] + (.[1:] | "
    "join(\"~\\\"\"))] | add // \"\");"
    "def _im_plus(a; b): b as $b | a as $a | if $a == null then $b elif $b == null then $a "
    "else (_im_pair($a; $b) | .[0] + .[1]) end;"
    "def _im_minus(a; b): _im_pair(a; b) | .[0] - .[1];"
    "def _im_multiply(a; b): _im_pair(a; b) | .[0] * .[1];"
    "def _im_divide(a; b): _im_pair(a; b) | .[0] / .[1];"
    "def _im_mod(a; b): _im_pair(a; b) | .[0] % .[1];"
    "def _im_less(a; b): _im_pair(a; b) | .[0] < .[1];"
    "def _im_lesseq(a; b): _im_pair(a; b) | .[0] <= .[1];"
    "def _im_greater(a; b): _im_pair(a; b) | .[0] > .[1];"
    "def _im_greatereq(a; b): _im_pair(a; b) | .[0] >= .[1];"
    "def _im_negate: if _im_big then (_im_strip | if startswith(\"-\") then .[1:] "
    "else \"-\" + . end | \"~\" + . + \"~\") else -. end;"
    "def _plus(a; b): _im_plus(a; b); def _minus(a; b): _im_minus(a; b);"
    "def _multiply(a; b): _im_multiply(a; b); def _divide(a; b): _im_divide(a; b);"
    "def _mod(a; b): _im_mod(a; b); def _less(a; b): _im_less(a; b);"
    "def _lesseq(a; b): _im_lesseq(a; b); def _greater(a; b): _im_greater(a; b);"
    "def _greatereq(a; b): _im_greatereq(a; b); def _negate: _im_negate;"
    "def type: if _im_big then \"number\" else _im_type end;"
    "def numbers: select(type == \"number\"); def strings: select(type == \"string\");"
    "def tojson: _im_json | _im_unquote;"
    "def tostring: if type == \"string\" then . else tojson end;"
    "def format(f): f as $f | if $f == \"text\" then tostring elif $f == \"json\" then tojson "
    "elif _im_big then (_im_strip | _im_format($f)) else (_im_refuse_any | _im_format($f)) end;"
    "def tonumber: if _im_big then . elif _im_long and _im_is_number then _im_trim | _im_number "
    "else _im_tonumber end;"
    "def length: if _im_big then _im_refuse else _im_length end;"
    "def add: reduce .[] as $x (null; . + $x);"
    "def join($x): reduce .[] as $i (null; (if . == null then \"\" else . + $x end) + "
    "($i | if . == null then \"\" elif type == \"string\" then . else tojson end)) // \"\";"
    "def sort: _im_refuse_any | _im_sort; def sort_by(f): (map(f) | _im_refuse_any) as $k | "
    "_im_sort_by(f); def min: _im_refuse_any | _im_min; def max: _im_refuse_any | _im_max;"
    "def min_by(f): (map(f) | _im_refuse_any) as $k | _im_min_by(f);"
    "def max_by(f): (map(f) | _im_refuse_any) as $k | _im_max_by(f);"
    "def _im_text: if _im_big then _im_refuse else . end;"
    "def fromjson: _im_text | _im_from_json;" /* clang-format off */
    OF_TEXT_0("ascii_downcase") OF_TEXT_0("ascii_upcase") OF_TEXT_0("explode")
    OF_TEXT_0("utf8bytelength")
    OF_TEXT_1("startswith") OF_TEXT_1("endswith") OF_TEXT_1("split") OF_TEXT_1("splits")
    OF_TEXT_1("test") OF_TEXT_1("match") OF_TEXT_1("capture") OF_TEXT_1("scan")
    "def _im_index(a): index(a); def index(a): _im_text | _im_index(a);" /* of lists too */
    "def _im_rindex(a): rindex(a); def rindex(a): _im_text | _im_rindex(a);"
    OF_TEXT_2("test") OF_TEXT_2("match") OF_TEXT_2("capture") OF_TEXT_2("split")
    OF_TEXT_2("splits") OF_TEXT_2("sub") OF_TEXT_2("gsub")
    OF_TEXT_3("sub") OF_TEXT_3("gsub"); /* clang-format on */
