/* trace_java: "at package.Class.method(File.java:12)". */
#include "core/trace/trace_at.h"

static const struct bytes foreign[] = {BYTES("java."), BYTES("javax."),   BYTES("sun."),
                                       BYTES("jdk."),  BYTES("com.sun."), BYTES("kotlin."),
                                       BYTES("scala.")};

static bool is_foreign(struct bytes function) {
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (bytes_starts(function, foreign[i]))
            return true;
    return false;
}

/* "java.base/java.util.List.get", "app//Main.main": the module is not part of the name. */
static struct bytes without_module(struct bytes function) {
    for (size_t i = function.len; i > 0; i--)
        if (function.ptr[i - 1] == '/')
            return bytes_cut(function, i, function.len);
    return function;
}

static bool java_frame(struct bytes line, struct trace_frame *out) {
    struct bytes rest = bytes_trim(line);
    if (!bytes_starts(rest, BYTES("at ")) || trace_indent(line).len == 0)
        return false;
    rest = bytes_cut(rest, 3, rest.len);
    size_t open = bytes_find(rest, BYTES("("));
    struct bytes function = bytes_cut(rest, 0, open);
    if (open == rest.len || function.len == 0 || bytes_find(function, BYTES(" ")) < function.len ||
        bytes_find(function, BYTES(".")) == function.len)
        return false;
    struct bytes place = bytes_cut(rest, open + 1, rest.len);
    place = bytes_cut(place, 0, bytes_find(place, BYTES(")")));
    out->function = without_module(function);
    out->file = bytes_cut(place, 0, bytes_find(place, BYTES(":")));
    out->in_app = !is_foreign(out->function);
    return true;
}

static const struct bytes openings[] = {BYTES("Exception in thread ")};

static const struct bytes causes[] = {BYTES("Caused by:")};

static bool java_find(struct bytes text, struct trace *out) {
    static const struct trace_at java = {java_frame, causes,   sizeof causes / sizeof *causes,
                                         false,      openings, sizeof openings / sizeof *openings};
    return trace_at_find(&java, text, out);
}

const struct trace_language trace_java = {java_find, java_frame};
