#include "test.h"

#include <stdio.h>

#include "base/buf.h"
#include "core/trace/trace.h"

enum { FIXTURE_MAX = 64 * 1024 };

/* The frames as "function@file", innermost first, "!" before those that are not the application's
 * own; a glob. */
static const struct {
    const char *file, *type, *message, *frames;
} fixtures[] = {
    {"python_key_error", "KeyError", "'pin BAD'", "price@/srv/app/a.py <module>@/srv/app/a.py"},
    {"python_chained", "RuntimeError", "could not price order 17",
     "outer@/srv/app/a.py <module>@/srv/app/a.py"},
    {"python_json_error", "json.decoder.JSONDecodeError",
     "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
     "!raw_decode@/usr/lib/python3.11/json/decoder.py !decode@/usr/lib/python3.11/json/decoder.py "
     "!loads@/usr/lib/python3.11/json/__init__.py <module>@/srv/app/a.py"},
    {"python_grpc", "grpc._channel._InactiveRpcError",
     "<_InactiveRpcError of RPC that terminated with:\n\tstatus = StatusCode.UNAVAILABLE",
     "!__call__@/srv/app/venv/lib/python3.11/site-packages/grpc/_channel.py "
     "<module>@/srv/app/a.py"},
    {"node_dom_exception", "TimeoutError", "The operation was aborted due to timeout",
     "!new DOMException@node:internal/per_context/domexception price@/srv/app/a.mjs"},
    {"node_ref", "AxiosError", "timeout of 300ms exceeded",
     "!createTimeoutError@/srv/app/node_modules/axios/dist/node/axios.cjs price@/srv/app/a.mjs"},
    {"node_small_letters", "error", "password authentication failed for user \"worker\"",
     "!Parser.parseErrorMessage@/srv/app/node_modules/pg-protocol/dist/parser.js "
     "price@/srv/app/a.js"},
    {"node_aggregate", "AggregateError", "ECONNREFUSED",
     "!internalConnectMultiple@node:net !afterConnectMultiple@node:net"},
    {"python_group", "ExceptionGroup", "many (2 sub-exceptions)", "<module>@/srv/app/a.py"},
    {"python_bare", "ValueError", "", "<module>@/srv/app/a.py"},
    {"python_context", "ValueError", "multi", "<module>@/srv/app/a.py"},
    {"python_recursion", "RecursionError", "maximum recursion depth exceeded",
     "r@/srv/app/a.py r@/srv/app/a.py r@/srv/app/a.py <module>@/srv/app/a.py"},
    {"python_syntax", "SyntaxError", "'(' was never closed", "@<string> <module>@/srv/app/a.py"},
    {"node_excerpt", "TypeError", "Cannot read properties of undefined (reading 'length')",
     "price@/srv/app/a.js Object.<anonymous>@/srv/app/a.js "
     "!Module._compile@node:internal/modules/cjs/loader *"},
    {"node_multiline", "Error", "multi", "Object.<anonymous>@/srv/app/a.js *"},
    {"node_json", "SyntaxError", "Expected property name or '}' in JSON at position 1",
     "!JSON.parse@<anonymous> Object.<anonymous>@/srv/app/a.js *"},
    {"node_async", "TypeError", "Cannot read properties of undefined (reading 'length')",
     "price@/srv/app/a.js @/srv/app/a.js"},
    {"node_cause", "TypeError", "inner",
     "Object.<anonymous>@/srv/app/a.js !Module._compile@node:internal/modules/cjs/loader *"},
    {"node_cause_property", "Error", "getaddrinfo ENOTFOUND nobody.invalid",
     "!GetAddrInfoReqWrap.onlookup [as oncomplete]@node:dns "
     "!Object.fetch@node:internal/deps/undici/undici *"},
    {"node_errno", "Error", "ENOENT: no such file or directory, open '/nonexistent'",
     "!Object.openSync@node:fs !Object.readFileSync@node:fs Object.<anonymous>@/srv/app/a.js *"},
    {"node_rejection", "UnhandledPromiseRejection",
     "This error originated either by throwing inside of an async function without a catch block, "
     "or "
     "by rejecting a promise which was not handled with .catch(). The promise rejected with the "
     "reason \"5\".",
     "!throwUnhandledRejectionsMode@node:internal/process/promises *"},
    {"node_printed", "ValidationError", "bad field", "Object.<anonymous>@/srv/app/a.js *"},
    {"node_uncaught", "ReferenceError", "price is not defined",
     "@/srv/app/worker.js !run@/srv/app/node_modules/queue/index.js"},
    {"java_null", "java.lang.NullPointerException",
     "Cannot invoke \"String.length()\" because the return value of "
     "\"java.util.Map.get(Object)\" is null",
     "A.price@A.java A.main@A.java"},
    {"java_cause", "java.lang.NullPointerException",
     "Cannot invoke \"String.length()\" because the return value of "
     "\"java.util.Map.get(Object)\" is null",
     "A.price@A.java A.load@A.java A.main@A.java"},
    {"java_library", "java.lang.RuntimeException", "",
     "A.lambda$main$0@A.java !java.lang.Iterable.forEach@Iterable.java A.main@A.java"},
    {"java_suppressed", "java.lang.Exception", "x", "A.main@A.java"},
    {"java_suppressed_cause", "java.io.IOException", "close me",
     "org.example.Store.write@Store.java org.example.Main.main@Main.java"},
    {"java_logged", "org.example.PriceException", "two lines:",
     "org.example.Pricer.price@Pricer.java !java.util.ArrayList.forEach@ArrayList.java "
     "org.example.Main.main@Main.java"},
    {"go_nil", "runtime error", "invalid memory address or nil pointer dereference",
     "main.(*O).price@/srv/app/a.go main.main@/srv/app/a.go"},
    {"go_text", "panic", "order 17 is bad", "main.main@/srv/app/a.go"},
    {"go_deadlock", "fatal error", "all goroutines are asleep - deadlock!",
     "!internal/sync.runtime_SemacquireMutex@/usr/local/go/src/runtime/sema.go "
     "!internal/sync.(*Mutex).lockSlow@/usr/local/go/src/internal/sync/mutex.go *"},
    {"go_repanic", "runtime error", "index out of range [5] with length 0 [recovered, repanicked]",
     "main.main.func1@/srv/app/a.go !panic@/usr/local/go/src/runtime/panic.go "
     "main.main@/srv/app/a.go"},
    {"go_other", "panic", "(struct { a int }) 0x4b3ba8",
     "main.main.func2@/srv/app/a.go main.main@/srv/app/a.go"},
    {"ruby_plain", "KeyError", "key not found: \"sku\"",
     "fetch@/srv/app/price.rb price@/srv/app/price.rb !each@/usr/lib/ruby/3.1.0/set.rb "
     "!call@/var/lib/gems/3.1.0/gems/rack-2.2.4/lib/rack/builder.rb <main>@price.rb"},
    {"ruby_upside_down", "RuntimeError", "no rate for 17",
     "rate@price.rb price@price.rb <main>@price.rb"},
    {"ruby_namespace", "JSON::ParserError", "859: unexpected token at '{broken'",
     "!parse@/usr/lib/ruby/3.1.0/json/common.rb !parse@/usr/lib/ruby/3.1.0/json/common.rb "
     "<main>@order.rb"},
    {"ruby_lines", "Pricing::RateMissing", "no rate for {:id=>7}",
     "rescue in fetch@price.rb fetch@price.rb price@price.rb <main>@price.rb"},
    {"ruby_cause", "ZeroDivisionError", "divided by 0",
     "Integer#/@price.rb Object#price@price.rb <main>@price.rb"},
    {"two_languages", "TypeError", "second", "main@/srv/app/run.js"},
};

static struct bytes load(const char *name, char memory[FIXTURE_MAX]) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s.txt", TRACES_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    size_t len = fread(memory, 1, FIXTURE_MAX, file);
    fclose(file);
    return (struct bytes){memory, len};
}

static void put_frames(const struct trace *trace, struct buf *out) {
    for (size_t i = 0; i < trace->frame_count; i++) {
        buf_str(out, i ? " " : "");
        buf_str(out, trace->frames[i].in_app ? "" : "!");
        buf_bytes(out, trace->frames[i].function);
        buf_char(out, '@');
        buf_bytes(out, trace->frames[i].file);
    }
}

static void what_programs_print_as_they_die_is_understood(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX], frames[FIXTURE_MAX];
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct bytes text = load(fixtures[i].file, memory);
        struct trace trace;
        if (!trace_find(text, &trace))
            fail_msg("%s: no trace found", fixtures[i].file);
        struct buf got;
        buf_init_fixed(&got, frames, sizeof frames);
        put_frames(&trace, &got);
        if (!bytes_is(trace.error_type, fixtures[i].type) ||
            !bytes_is(trace.error_message, fixtures[i].message) ||
            !bytes_glob(bytes_of(fixtures[i].frames), buf_view(&got)))
            fail_msg("%s: type '%.*s' message '%.*s' frames '%.*s'", fixtures[i].file,
                     BYTES_ARG(trace.error_type), BYTES_ARG(trace.error_message),
                     BYTES_ARG(buf_view(&got)));
    }
}

static void the_same_trace_with_crlf_is_understood(void **state) {
    (void)state;
    struct trace trace;
    assert_true(trace_find(BYTES("Traceback (most recent call last):\r\n"
                                 "  File \"C:\\app\\a.py\", line 1, in f\r\n    x()\r\n"
                                 "KeyError: 'a'\r\n"),
                           &trace));
    assert_bytes(trace.error_type, "KeyError");
    assert_bytes(trace.error_message, "'a'");
    assert_bytes(trace.frames[0].file, "C:\\app\\a.py");
}

static void ordinary_output_is_no_trace(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX];
    struct trace trace;
    assert_false(trace_find(load("none", memory), &trace));
    assert_false(trace_find(BYTES_NONE, &trace));
}

static void ruby_frames_after_other_output_belong_to_nothing(void **state) {
    (void)state;
    struct trace trace;
    assert_true(trace_find(BYTES("a.rb:5:in `f': outer (RuntimeError)\n\tfrom a.rb:9:in `<main>'\n"
                                 "noise\n\tfrom a.rb:2:in `g'\n"
                                 "a.rb:3:in `h': inner (KeyError)\n"),
                           &trace));
    assert_bytes(trace.text, "a.rb:3:in `h': inner (KeyError)");
    assert_int_equal(trace.frame_count, 1);
}

static void the_text_is_the_trace_without_what_was_logged_around_it(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX];
    struct trace trace;
    assert_true(trace_find(load("java_logged", memory), &trace));
    assert_true(bytes_starts(trace.text, BYTES("org.example.PriceException: two lines:\n")));
    assert_true(bytes_ends(trace.text, BYTES("\tat org.example.Main.main(Main.java:7)")));
    assert_true(trace_find(load("python_chained", memory), &trace));
    assert_true(bytes_starts(trace.text, BYTES("Traceback")));
    assert_true(bytes_find(trace.text, BYTES("KeyError: 'pin BAD'")) < trace.text.len);
}

static size_t count(struct bytes text, struct bytes what) {
    size_t n = 0;
    for (size_t at; (at = bytes_find(text, what)) < text.len; n++)
        text = bytes_cut(text, at + what.len, text.len);
    return n;
}

static struct bytes deep_python(struct buf *buf, int frames) {
    buf_str(buf, "Traceback (most recent call last):\n");
    for (int i = 1; i <= frames; i++)
        buf_printf(buf, "  File \"a.py\", line %d, in f%d\n    f%d()\n", i, i, i + 1);
    buf_str(buf, "KeyError: 'x'\n");
    return buf_view(buf);
}

static void the_tail_of_a_python_trace_ends_with_the_exception(void **state) {
    (void)state;
    char memory[8192];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    struct bytes tail = trace_tail(deep_python(&buf, 50));
    assert_int_equal(count(tail, BYTES("File \"")), OUTCOME_STACK_FRAMES_MAX);
    assert_true(bytes_starts(tail, BYTES("  File \"a.py\", line 31, in f31\n")));
    assert_true(bytes_ends(tail, BYTES("in f50\n    f51()\nKeyError: 'x'\n")));
}

static void the_tail_of_a_java_trace_keeps_the_cause_and_its_newest_frames(void **state) {
    (void)state;
    char memory[8192];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    buf_str(&buf, "Exception in thread \"main\" a.OuterException: outer\n");
    for (int i = 0; i < 15; i++)
        buf_printf(&buf, "\tat a.Outer.m%d(Outer.java:%d)\n", i, i);
    buf_str(&buf, "Caused by: a.RootException: root\n");
    for (int i = 0; i < 30; i++)
        buf_printf(&buf, "\tat a.Root.m%d(Root.java:%d)\n", i, i);
    struct bytes tail = trace_tail(buf_view(&buf));
    assert_true(bytes_starts(tail, BYTES("Caused by: a.RootException: root\n\tat a.Root.m0(")));
    assert_true(bytes_ends(tail, BYTES("\tat a.Root.m19(Root.java:19)\n")));
}

static void a_trace_that_fits_is_kept_whole(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX];
    for (size_t i = 0; i < sizeof fixtures / sizeof *fixtures; i++) {
        struct bytes text = load(fixtures[i].file, memory);
        assert_int_equal(trace_tail(text).len, text.len);
    }
    assert_int_equal(trace_tail(BYTES_NONE).len, 0);
}

static void other_text_keeps_its_last_whole_lines(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX];
    struct buf buf;
    buf_init_fixed(&buf, memory, sizeof memory);
    for (int i = 0; i < 2000; i++)
        buf_printf(&buf, "line %d\n", i);
    struct bytes tail = trace_tail(buf_view(&buf));
    assert_true(tail.len <= OUTCOME_STACK_MAX && tail.len > OUTCOME_STACK_MAX - 32);
    assert_true(bytes_starts(tail, BYTES("line ")));
    assert_true(bytes_ends(tail, BYTES("line 1999\n")));
}

static void a_line_longer_than_the_limit_is_clipped(void **state) {
    (void)state;
    static char memory[FIXTURE_MAX];
    memset(memory, 'x', sizeof memory);
    assert_int_equal(trace_tail((struct bytes){memory, sizeof memory}).len, OUTCOME_STACK_MAX);
    memcpy(memory, "Traceback (most recent call last):\nKeyError: ", 45);
    struct bytes tail = trace_tail((struct bytes){memory, sizeof memory});
    assert_true(bytes_starts(tail, BYTES("KeyError: xxx")));
    assert_int_equal(tail.len, OUTCOME_STACK_MAX);
}

static void the_newest_frames_of_a_deep_trace_are_kept(void **state) {
    (void)state;
    char memory[16384];
    struct buf buf;
    struct trace trace;
    buf_init_fixed(&buf, memory, sizeof memory);
    assert_true(trace_find(deep_python(&buf, 200), &trace));
    assert_int_equal(trace.frame_count, TRACE_FRAMES_MAX);
    assert_bytes(trace.frames[0].function, "f200");
    assert_bytes(trace.frames[TRACE_FRAMES_MAX - 1].function, "f137");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_programs_print_as_they_die_is_understood),
        cmocka_unit_test(the_same_trace_with_crlf_is_understood),
        cmocka_unit_test(ordinary_output_is_no_trace),
        cmocka_unit_test(ruby_frames_after_other_output_belong_to_nothing),
        cmocka_unit_test(the_text_is_the_trace_without_what_was_logged_around_it),
        cmocka_unit_test(the_tail_of_a_python_trace_ends_with_the_exception),
        cmocka_unit_test(the_tail_of_a_java_trace_keeps_the_cause_and_its_newest_frames),
        cmocka_unit_test(a_trace_that_fits_is_kept_whole),
        cmocka_unit_test(other_text_keeps_its_last_whole_lines),
        cmocka_unit_test(a_line_longer_than_the_limit_is_clipped),
        cmocka_unit_test(the_newest_frames_of_a_deep_trace_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
