#include "test.h"

#include "core/fingerprint.h"

static const struct {
    const char *text, *masked;
} masks[] = {
    {"order 17 not found", "order <n> not found"},
    {"", ""},
    {"nothing to mask here", "nothing to mask here"},
    {"user 018f3c2e-7b1a-7c3d-8e4f-0123456789ab is gone", "user <id> is gone"},
    {"018F3C2E-7B1A-7C3D-8E4F-0123456789AB", "<id>"},
    {"commit 9f2c1a3b4d failed", "commit <hex> failed"},
    {"the facade is deadbeef", "the facade is deadbeef"}, /* no digit: words */
    {"at 0x7ffd12 and 0XAB", "at <hex> and <hex>"},
    {"took 12.5 s, -3 left, 1,234.5 in all", "took <n> s, <n> left, <n> in all"},
    {"v3.11.7 and 1e-07", "v<n>.<n> and <n>"},
    {"timeout after 30ms", "timeout after <n>ms"},
    {"KeyError: 'pin BAD'", "KeyError: <str>"},
    {"no \"a \\\" b\" and `c' or `d`", "no <str> and <str> or <str>"},
    {"it can't be the users' fault", "it can't be the users' fault"},
    {"an 'unclosed quote 7", "an 'unclosed quote <n>"},
    {"'two\nlines'", "'two\nlines'"},
    {"at 2026-11-15T04:49:41.123Z it broke", "at <n> it broke"},
    {"at 2026-11-15 04:49:41,5 +0100", "at <n> <n>"},
    {"2026-11-15T04:49:41+01:00 12:30:45", "<n> <n>"},
    {"dial 10.0.0.1:5432 refused", "dial <id>:<n> refused"},
    {"from fe80::1 and 2001:db8:0:0:0:ff00:42:8329.", "from <id> and <id>."},
    {"std::bad_alloc", "std::bad_alloc"},
    {"mail bob.b+x@example.co.uk.", "mail <id>."},
    {"user@host has no dot", "user@host has no dot"},
    {"req_011CSHoEeqs5C35K2UUqR7Fy failed", "req_<id> failed"},
    {"AbstractSingletonProxyFactoryBean", "AbstractSingletonProxyFactoryBean"},
    {"order17 order-18", "order<n> order-<n>"},
};

static void what_varies_is_masked(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        char memory[512];
        struct buf buf;
        buf_init_fixed(&buf, memory, sizeof memory);
        fingerprint_mask(bytes_of(masks[i].text), &buf);
        if (!bytes_is(buf_view(&buf), masks[i].masked))
            fail_msg("'%s' gave '%.*s'", masks[i].text, BYTES_ARG(buf_view(&buf)));
    }
}

#define PYTHON(line, function)                                                                     \
    "Traceback (most recent call last):\n  File \"/app/a.py\", line " line ", in " function        \
    "\n    x\n  File \"/usr/lib/python3.11/json/decoder.py\", line " line ", in decode\nE: m\n"

static const struct {
    const char *what;
    const char *type[2], *message[2], *stack[2];
    bool same;
} pairs[] = {
    {"another id", {"E", "E"}, {"order 17 gone", "order 18000 gone"}, {"", ""}, true},
    {"another quoted text", {"E", "E"}, {"no key 'a'", "no key 'bcd'"}, {"", ""}, true},
    {"another line number", {"E", "E"}, {"m", "m"}, {PYTHON("1", "f"), PYTHON("9", "f")}, true},
    {"another type", {"E", "F"}, {"m", "m"}, {"", ""}, false},
    {"another message", {"E", "E"}, {"m", "n"}, {"", ""}, false},
    {"another function", {"E", "E"}, {"m", "m"}, {PYTHON("1", "f"), PYTHON("1", "g")}, false},
    {"a stack or none", {"E", "E"}, {"m", "m"}, {PYTHON("1", "f"), ""}, false},
    {"text on the other side", {"ab", "a"}, {"c", "bc"}, {"", ""}, false},
};

static void one_cause_is_one_number(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        uint64_t got[2];
        for (int k = 0; k < 2; k++)
            got[k] = fingerprint_of(bytes_of(pairs[i].type[k]), bytes_of(pairs[i].message[k]),
                                    bytes_of(pairs[i].stack[k]));
        if ((got[0] == got[1]) != pairs[i].same)
            fail_msg("%s: expected them to be %s", pairs[i].what, pairs[i].same ? "one" : "two");
    }
}

static void library_frames_do_not_tell_causes_apart(void **state) {
    (void)state;
    struct bytes one =
        BYTES("E: m\n    at f (/app/a.js:1:1)\n    at g (/app/node_modules/b/c.js:1:1)\n");
    struct bytes two =
        BYTES("E: m\n    at f (/app/a.js:1:1)\n    at h (/app/node_modules/d/e.js:1:1)\n");
    assert_true(fingerprint_of(BYTES("E"), BYTES("m"), one) ==
                fingerprint_of(BYTES("E"), BYTES("m"), two));
}

static void only_the_top_frames_count(void **state) {
    (void)state;
    char memory[2][1024];
    uint64_t got[2];
    for (int k = 0; k < 2; k++) {
        struct buf buf;
        buf_init_fixed(&buf, memory[k], sizeof memory[k]);
        buf_str(&buf, "E: m\n");
        for (char c = 'a'; c < 'a' + FINGERPRINT_FRAMES; c++)
            buf_printf(&buf, "    at %c (/app/a.js:1:1)\n", c);
        buf_printf(&buf, "    at %s (/app/a.js:1:1)\n", k ? "one" : "other");
        got[k] = fingerprint_of(BYTES("E"), BYTES("m"), buf_view(&buf));
    }
    assert_true(got[0] == got[1]);
}

static void text_of_any_length_is_taken(void **state) {
    (void)state;
    static char memory[64 * 1024];
    static const char *const hostile[] = {"'",  "\"", "`", "1",  "a1",  "''", "1 ",
                                          "a.", "a@", ":", "::", "\\'", "\n"};
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        size_t len = strlen(hostile[i]);
        for (size_t n = 0; n < sizeof memory; n++)
            memory[n] = hostile[i][n % len];
        struct bytes text = {memory, sizeof memory};
        assert_true(fingerprint_of(text, text, text) == fingerprint_of(text, text, text));
    }
}

static void the_text_form_is_sixteen_hex_digits(void **state) {
    (void)state;
    char text[FINGERPRINT_TEXT_SIZE];
    uint64_t back;
    assert_string_equal(fingerprint_text(0x0123456789abcdefu, text), "0123456789abcdef");
    assert_true(fingerprint_parse(BYTES("0123456789abcdef"), &back));
    assert_true(back == 0x0123456789abcdefu);
    assert_false(fingerprint_parse(BYTES("0123456789abcde"), &back));
    assert_false(fingerprint_parse(BYTES("0123456789abcdeg"), &back));
    assert_false(fingerprint_parse(BYTES_NONE, &back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_varies_is_masked),
        cmocka_unit_test(one_cause_is_one_number),
        cmocka_unit_test(library_frames_do_not_tell_causes_apart),
        cmocka_unit_test(only_the_top_frames_count),
        cmocka_unit_test(text_of_any_length_is_taken),
        cmocka_unit_test(the_text_form_is_sixteen_hex_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
