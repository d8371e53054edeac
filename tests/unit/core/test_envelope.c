#include "test.h"

#include "core/envelope/envelope_fields.h"
#include "core/fingerprint.h"

#include <stdio.h>

enum { TEXT_MAX = 1 << 20 };

#define HASH "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

struct fixture {
    struct arena arena;
    struct buf buf;
};

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    arena_init_heap(&f->arena, 1 << 16);
    buf_init_heap(&f->buf, TEXT_MAX);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    arena_free(&f->arena);
    buf_free(&f->buf);
    free(f);
    return 0;
}

static struct bytes encode(struct fixture *f, const struct envelope *envelope,
                           enum envelope_part part, struct bytes body) {
    buf_clear(&f->buf);
    envelope_encode(envelope, part, body, &f->buf);
    assert_false(f->buf.overflow);
    return buf_view(&f->buf);
}

static enum status decode(struct fixture *f, struct bytes json, struct envelope *out) {
    struct err err;
    return envelope_decode(arena_dup(&f->arena, json), &f->arena, out, &err);
}

static struct envelope live(void) {
    return (struct envelope){.state = STATE_QUEUED,
                             .id = BYTES("m1"),
                             .queue = BYTES("orders"),
                             .content_type = BYTES("application/json"),
                             .content_hash = HASH,
                             .size = 7,
                             .source = BYTES("{\"kind\":\"builtin\"}"),
                             .retry_after_ms = -1,
                             .max_attempts = 5,
                             .created_at = {1000}};
}

static void keys_and_headers_that_are_no_text_are_base64(void **state) {
    static const struct rule_header headers[] = {{{"n", 1}, {"\0\0\0\x03", 4}},
                                                 {{"n", 1}, {"\0\0\0\x04", 4}},
                                                 {{"t", 1}, {"a\tb\n", 4}},
                                                 {{"x", 1}, {"\xff", 1}},
                                                 {{"e", 1}, {NULL, 0}}};
    struct envelope envelope = live(), back;
    envelope.key = (struct bytes){"k\xff", 2};
    envelope.headers = headers;
    envelope.header_count = sizeof headers / sizeof *headers;
    struct bytes text = encode(*state, &envelope, ENVELOPE_ROW, BYTES_NONE);
    struct bytes shown =
        BYTES("\"key\":{\"base64\":\"a/8=\"},\"headers\":{\"n\":{\"base64\":\"AAAABA==\"},"
              "\"t\":\"a\\tb\\n\",\"x\":{\"base64\":\"/w==\"},\"e\":\"\"},\"header_pairs\":["
              "[\"n\",{\"base64\":\"AAAAAw==\"}],[\"n\",{\"base64\":\"AAAABA==\"}],"
              "[\"t\",\"a\\tb\\n\"],[\"x\",{\"base64\":\"/w==\"}],[\"e\",\"\"]],");
    assert_true(bytes_find(text, shown) < text.len);
    assert_int_equal(decode(*state, text, &back), STATUS_OK);
    assert_true(bytes_eq(back.key, envelope.key));
    assert_int_equal(back.header_count, envelope.header_count);
    for (size_t i = 0; i < back.header_count; i++)
        assert_true(bytes_eq(back.headers[i].value, headers[i].value));
}

/* Of headers and header_pairs the latter counts, in either order; a list that is no list of pairs
 * is refused. Repeated members, as earlier versions wrote them, are still read. */
static void repeated_headers_are_read_from_pairs(void **state) {
    static const struct {
        const char *members, *second; /* the value of the second header, or NULL: it is refused */
    } cases[] = {
        {"\"headers\":{\"n\":\"2\"},\"header_pairs\":[[\"n\",\"1\"],[\"n\",\"2\"]]", "2"},
        {"\"header_pairs\":[[\"n\",\"1\"],[\"n\",\"2\"]],\"headers\":{\"n\":\"2\"}", "2"},
        {"\"headers\":{\"n\":\"1\",\"n\":\"2\"}", "2"},
        {"\"header_pairs\":{\"n\":\"1\"}", NULL},
        {"\"header_pairs\":[\"n\"]", NULL},
        {"\"header_pairs\":[[\"n\"]]", NULL},
        {"\"header_pairs\":[[1,\"n\"]]", NULL},
        {"\"header_pairs\":[[\"n\",null]]", NULL},
        {"\"header_pairs\":[[\"n\",\"1\",\"2\"]]", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        struct envelope back;
        snprintf(text, sizeof text,
                 "{\"state\":\"queued\",\"message\":{\"id\":\"m1\",\"queue\":\"q\",%s}}",
                 cases[i].members);
        enum status status = decode(*state, bytes_of(text), &back);
        assert_int_equal(status, cases[i].second ? STATUS_OK : STATUS_CORRUPT);
        if (!cases[i].second)
            continue;
        assert_int_equal(back.header_count, 2);
        assert_bytes(back.headers[0].value, "1");
        assert_bytes(back.headers[1].value, cases[i].second);
    }
}

static void a_live_message_reads_as_the_contract_says(void **state) {
    struct envelope envelope = live();
    assert_bytes(
        encode(*state, &envelope, ENVELOPE_WITH_BODY,
               BYTES("{\"b\":1.0, \"a\":12345678901234567890}")),
        "{\"id\":\"m1\",\"dlq\":null,\"state\":\"queued\",\"cause\":null,\"category\":null,"
        "\"reason\":null,\"message\":{\"id\":\"m1\",\"queue\":\"orders\",\"key\":null,\"headers\":{"
        "},"
        "\"content_type\":\"application/json\",\"body\":{\"b\":1.0, \"a\":12345678901234567890},"
        "\"content_hash\":\"sha256:" HASH "\",\"size\":7},"
        "\"source\":{\"kind\":\"builtin\"},\"failure\":null,"
        "\"attempts\":0,\"max_attempts\":5,\"crashes\":0,\"probes\":0,\"replays\":0,\"history\":[],"
        "\"created_at\":\"1970-01-01T00:00:01.000Z\",\"first_failure_at\":null,"
        "\"last_failure_at\":null,\"dead_at\":null,\"resolved_at\":null,\"resolution\":null,"
        "\"consumer\":{\"instance\":null,\"version\":null},\"task\":null,\"context\":{},"
        "\"owner\":null,\"rule\":null,\"first_attempt_at\":null,\"next_attempt_at\":null,"
        "\"escalated_at\":null,\"why\":null,\"blocked_by\":null,\"replay\":null,\"replayed_at\":"
        "null}");
}

static struct rule_header letter_headers[] = {{BYTES("correlation_id"), BYTES("c1")}};
static struct envelope_note letter_history[] = {
    {.attempt = 1,
     .at = {2000},
     .duration_ms = 12,
     .counted = true,
     .verdict = VERDICT_RETRY,
     .category = BYTES("timeout"),
     .error_type = BYTES("T"),
     .error_message = BYTES("m"),
     .delay_ms = 132},
    {.attempt = 2, .at = {3000}, .interrupted = true, .delay_ms = -1, .replay = 1, .probe = true},
};

static struct envelope letter(void) {
    struct envelope envelope = live();
    envelope.letter_id = BYTES("l1");
    envelope.dlq = BYTES("orders.dlq");
    envelope.state = STATE_PENDING_REVIEW;
    envelope.cause = CAUSE_EXHAUSTED;
    envelope.category = BYTES("timeout");
    envelope.reason = BYTES("max_attempts:timeout");
    envelope.key = BYTES("");
    envelope.headers = letter_headers;
    envelope.header_count = 1;
    envelope.failed = true;
    envelope.kind = KIND_STATUS;
    envelope.status = 503;
    envelope.error_type = BYTES("T");
    envelope.error_message = BYTES("m");
    envelope.stack_trace = BYTES("s");
    envelope.fingerprint = 0xabc;
    envelope.history = letter_history;
    envelope.history_count = 2;
    envelope.task_type = BYTES("price");
    envelope.rule = BYTES("orders.rules[1]");
    return envelope;
}

static void a_letter_reads_as_the_contract_says(void **state) {
    struct envelope envelope = letter();
    struct bytes text = encode(*state, &envelope, ENVELOPE_WITH_BODY, BYTES("{}"));
    static const char *const parts[] = {
        "{\"id\":\"l1\",\"dlq\":\"orders.dlq\",\"state\":\"pending_review\",\"cause\":"
        "\"exhausted\","
        "\"category\":\"timeout\",\"reason\":\"max_attempts:timeout\",\"message\":{\"id\":\"m1\",",
        "\"key\":\"\",\"headers\":{\"correlation_id\":\"c1\"},",
        "\"failure\":{\"kind\":\"status\",\"status\":503,\"exit_code\":null,\"signal\":null,"
        "\"error_type\":\"T\",\"error_message\":\"m\",\"stack_trace\":\"s\","
        "\"fingerprint\":\"0000000000000abc\",\"retry_after_ms\":null},",
        "\"history\":[{\"attempt\":1,\"at\":\"1970-01-01T00:00:02.000Z\",\"duration_ms\":12,"
        "\"verdict\":\"retry\",\"category\":\"timeout\",\"error_type\":\"T\",\"error_message\":"
        "\"m\","
        "\"delay_ms\":132,\"counted\":true,\"replay\":0},"
        "{\"attempt\":2,\"at\":\"1970-01-01T00:00:03.000Z\",\"duration_ms\":0,"
        "\"verdict\":\"interrupted\",\"category\":null,\"error_type\":null,\"error_message\":null,"
        "\"delay_ms\":null,\"counted\":false,\"replay\":1,\"probe\":true}],",
        "\"task\":{\"id\":null,\"type\":\"price\"},",
        "\"rule\":\"orders.rules[1]\"",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (bytes_find(text, bytes_of(parts[i])) == text.len)
            fail_msg("missing %s in %.*s", parts[i], BYTES_ARG(text));
}

static void assert_member(struct bytes text, const char *member, bool expected) {
    if ((bytes_find(text, bytes_of(member)) < text.len) != expected)
        fail_msg("%s %s in %.*s", member, expected ? "missing" : "found", BYTES_ARG(text));
}

static void a_row_has_no_body_stack_or_history(void **state) {
    struct envelope envelope = letter();
    struct bytes text = encode(*state, &envelope, ENVELOPE_ROW, BYTES("{}"));
    assert_member(text, "\"body\"", false);
    assert_member(text, "\"stack_trace\"", false);
    assert_member(text, "\"history\"", false);
    assert_member(text, "\"error_message\":\"m\"", true);
}

static const struct {
    const char *content_type;
    struct bytes body;
    const char *written;
} bodies[] = {
    {"application/json", BYTES("[1.0]\n"), "\"body\":[1.0],"},
    {"Application/JSON; charset=utf-8", BYTES("\"x\""), "\"body\":\"x\","},
    {"application/json", BYTES("{broken"), "\"body\":\"{broken\","},
    {"text/json", BYTES("[1.0]"), "\"body\":[1.0],"},
    {"application/cloudevents+JSON; charset=utf-8", BYTES("{\"a\":1}"), "\"body\":{\"a\":1},"},
    {"application/problem+json", BYTES("{broken"), "\"body\":\"{broken\","},
    {"+json", BYTES("[1]"), "\"body\":\"[1]\","},
    {"application/json-seq", BYTES("[1]"), "\"body\":\"[1]\","},
    {"text/plain", BYTES("[1]"), "\"body\":\"[1]\","},
    {"text/plain", BYTES(""), "\"body\":\"\","},
    {"application/json", BYTES("\xff\x00z"), "\"body_base64\":\"/wB6\","},
};

static void a_body_is_shown_as_what_it_is(void **state) {
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct envelope envelope = live();
        envelope.content_type = bytes_of(bodies[i].content_type);
        assert_member(encode(*state, &envelope, ENVELOPE_WITH_BODY, bodies[i].body),
                      bodies[i].written, true);
    }
}

static struct bytes stored(struct fixture *f, const struct envelope *envelope) {
    struct buf out;
    buf_init_heap(&out, TEXT_MAX);
    envelope_store(envelope, &out);
    assert_false(out.overflow);
    struct bytes copy = arena_dup(&f->arena, buf_view(&out));
    buf_free(&out);
    return copy;
}

static enum status restore(struct fixture *f, struct bytes text, struct envelope *out) {
    struct err err;
    return envelope_restore(text, &f->arena, out, &err);
}

static void stored_numbers_survive_exactly(void **state) {
    struct envelope envelope = live(), back;
    envelope.source = BYTES("{\"kind\":\"kafka\",\"offset\":9007199254740993}");
    envelope.context = BYTES("{\"id\":12345678901234567890, \"x\":1.0}");
    struct bytes text = stored(*state, &envelope);
    assert_int_equal(restore(*state, text, &back), STATUS_OK);
    assert_bytes(back.source, "{\"kind\":\"kafka\",\"offset\":9007199254740993}");
    assert_bytes(back.context, "{\"id\":12345678901234567890, \"x\":1.0}");
}

static void members_of_a_newer_version_are_passed_over(void **state) {
    struct envelope back;
    assert_int_equal(decode(*state,
                            BYTES("{\"new\":[{}],\"state\":\"queued\",\"message\":{\"id\":\"a\","
                                  "\"queue\":\"q\",\"newer\":1},\"history\":[{\"attempt\":1}]}"),
                            &back),
                     STATUS_OK);
    assert_bytes(back.id, "a");
    assert_true(back.letter_id.len == 0 && back.retry_after_ms == -1 && !back.failed);
    assert_true(back.history[0].counted && back.history[0].delay_ms == -1);
}

static void an_envelope_that_was_stored_as_json_is_still_read(void **state) {
    struct envelope back;
    assert_int_equal(
        restore(*state,
                BYTES("{\"dlq\":\"q.dlq\",\"state\":\"pending_review\",\"cause\":\"terminal\","
                      "\"message\":{\"id\":\"a\",\"queue\":\"q\",\"size\":3},\"attempts\":2,"
                      "\"dead_at\":\"2026-01-02T03:04:05.678Z\",\"letter_id\":\"l\"}"),
                &back),
        STATUS_OK);
    assert_bytes(back.id, "a");
    assert_bytes(back.letter_id, "l");
    assert_true(back.cause == CAUSE_TERMINAL && back.attempts == 2 && back.size == 3);
    assert_true(back.dead_at.ms == INT64_C(1767323045678));
}

static void stored_members_of_a_newer_version_are_passed_over(void **state) {
    struct envelope envelope = letter(), back;
    struct bytes text = stored(*state, &envelope);
    static const char newer[] = {(char)(62 << 2 | 0),
                                 5,
                                 (char)(62 << 2 | 1),
                                 2,
                                 'h',
                                 'i',
                                 (char)(62 << 2 | 2),
                                 1,
                                 0,
                                 0,
                                 0,
                                 'x'};
    struct buf out;
    buf_init_heap(&out, TEXT_MAX);
    buf_bytes(&out, text);
    buf_put(&out, newer, sizeof newer);
    assert_int_equal(restore(*state, buf_view(&out), &back), STATUS_OK);
    assert_true(bytes_eq(back.letter_id, envelope.letter_id));
    buf_free(&out);
}

static void expect_own_numbers(const struct envelope_section *section) {
    bool taken[ENVELOPE_NUMBER_MAX + 1] = {false};
    for (size_t i = 0; i < section->count; i++) {
        const struct envelope_field *field = &section->fields[i];
        assert_true(field->number > 0 && field->number <= ENVELOPE_NUMBER_MAX);
        if (taken[field->number])
            fail_msg("%s has the number of another member", field->name);
        taken[field->number] = true;
        if (field->section)
            expect_own_numbers(field->section);
    }
}

static void every_member_has_a_number_of_its_own(void **state) {
    (void)state;
    expect_own_numbers(&envelope_fields);
    expect_own_numbers(&envelope_fields_note);
}

#define MESSAGE(member)                                                                            \
    "{\"state\":\"queued\",\"message\":{\"id\":\"a\",\"queue\":\"q\"," member "}}"
#define SOUND "\"state\":\"queued\",\"message\":{\"id\":\"a\",\"queue\":\"q\"}"

static void damaged_text_is_corrupt(void **state) {
    static const char *const damaged[] = {
        "",
        "[]",
        "{}",
        "{\"message\":{\"id\":\"a\",\"queue\":\"q\"}}",
        "{\"state\":\"queued\",\"message\":{\"id\":\"a\"}}",
        "{\"state\":\"queued\",\"message\":{\"queue\":\"q\"}}",
        "{\"message\":[]}",
        "{\"message\":null}",
        "{\"message\":{\"id\":5,\"queue\":\"q\"}}",
        "{" SOUND ",\"state\":\"lost\"}",
        "{" SOUND ",\"state\":null}",
        "{" SOUND ",\"cause\":\"none\"}",
        "{" SOUND ",\"attempts\":-1}",
        "{" SOUND ",\"attempts\":4294967296}",
        "{" SOUND ",\"attempts\":\"1\"}",
        "{" SOUND ",\"created_at\":\"yesterday\"}",
        "{" SOUND ",\"created_at\":5}",
        "{" SOUND ",\"source\":[]}",
        "{" SOUND ",\"history\":{}}",
        "{" SOUND ",\"history\":[5]}",
        "{" SOUND ",\"history\":[{\"verdict\":\"maybe\"}]}",
        "{" SOUND ",\"failure\":{\"fingerprint\":\"xyz\"}}",
        MESSAGE("\"headers\":{\"a\":1}"),
        MESSAGE("\"headers\":{\"a\":{}}"),
        MESSAGE("\"headers\":{\"a\":{\"base64\":1}}"),
        MESSAGE("\"headers\":{\"a\":{\"base64\":\"*\"}}"),
        MESSAGE("\"key\":{\"base64\":null}"),
        MESSAGE("\"content_hash\":\"md5:1\""),
        MESSAGE("\"size\":-1"),
    };
    struct envelope sound;
    assert_int_equal(decode(*state, BYTES("{" SOUND "}"), &sound), STATUS_OK);
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct envelope back;
        if (decode(*state, bytes_of(damaged[i]), &back) != STATUS_CORRUPT)
            fail_msg("taken: %s", damaged[i]);
    }
}

static void an_arena_that_is_used_up_is_not_taken_for_damage(void **state) {
    (void)state;
    char memory[64];
    struct arena arena;
    struct envelope back;
    struct err err;
    arena_init_fixed(&arena, memory, sizeof memory);
    assert_int_equal(envelope_decode(BYTES("{" SOUND ",\"history\":[{}]}"), &arena, &back, &err),
                     STATUS_TOO_LARGE);
}

static void bytes_that_are_not_utf8_are_replaced(void **state) {
    struct envelope envelope = letter(), back;
    envelope.error_message = BYTES("a\xff"
                                   "b");
    struct bytes text = encode(*state, &envelope, ENVELOPE_ROW, BYTES_NONE);
    assert_int_equal(decode(*state, text, &back), STATUS_OK);
    assert_bytes(back.error_message, "a\xef\xbf\xbd"
                                     "b");
}

static void a_time_that_cannot_be_written_does_not_damage_the_rest(void **state) {
    struct envelope envelope = letter(), back;
    envelope.created_at.ms = INT64_MAX;
    envelope.dead_at.ms = -5;
    struct bytes text = stored(*state, &envelope);
    assert_int_equal(restore(*state, text, &back), STATUS_OK);
    assert_true(back.created_at.ms > 0);
    assert_true(back.dead_at.ms == WALL_NEVER.ms);
}

static void history_keeps_the_newest_lines(void **state) {
    struct fixture *f = *state;
    struct envelope envelope = live();
    char longer[ENVELOPE_NOTE_MESSAGE_MAX + 10];
    memset(longer, 'x', sizeof longer);
    for (uint32_t i = 1; i <= ENVELOPE_HISTORY_MAX + 5; i++) {
        struct envelope_note note = {.attempt = i, .error_message = {longer, sizeof longer}};
        assert_true(envelope_note(&envelope, &f->arena, &note));
    }
    assert_int_equal(envelope.history_count, ENVELOPE_HISTORY_MAX);
    assert_int_equal(envelope.history[0].attempt, 6);
    assert_int_equal(envelope.history[ENVELOPE_HISTORY_MAX - 1].attempt, ENVELOPE_HISTORY_MAX + 5);
    assert_int_equal(envelope.history[0].error_message.len, ENVELOPE_NOTE_MESSAGE_MAX);
}

static void a_used_up_arena_leaves_history_as_it_was(void **state) {
    (void)state;
    struct arena none;
    struct envelope envelope = letter();
    arena_init_fixed(&none, NULL, 0);
    assert_false(envelope_note(&envelope, &none, &letter_history[0]));
    assert_int_equal(envelope.history_count, 2);
}

static void a_failure_is_copied_clipped_and_fingerprinted(void **state) {
    (void)state;
    static char message[OUTCOME_MESSAGE_MAX + 100];
    memset(message, 'x', sizeof message);
    struct outcome outcome = {.ending = ENDING_FAILED,
                              .kind = KIND_EXIT,
                              .exit_code = 3,
                              .error_type = BYTES("KeyError"),
                              .error_message = {message, sizeof message},
                              .stack_trace = BYTES("E: m\n    at f (/app/a.js:1:1)\n"),
                              .retry_after_ms = 70};
    struct envelope envelope = live();
    envelope_fail(&envelope, &outcome, (struct wall){10});
    envelope_fail(&envelope, &outcome, (struct wall){20});
    assert_true(envelope.failed && envelope.kind == KIND_EXIT && envelope.exit_code == 3);
    assert_int_equal(envelope.error_message.len, OUTCOME_MESSAGE_MAX);
    assert_true(envelope.retry_after_ms == 70);
    assert_true(envelope.first_failure_at.ms == 10 && envelope.last_failure_at.ms == 20);
    assert_true(envelope.fingerprint ==
                fingerprint_of(outcome.error_type, outcome.error_message, outcome.stack_trace));
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        FRESH(keys_and_headers_that_are_no_text_are_base64),
        FRESH(repeated_headers_are_read_from_pairs),
        FRESH(a_live_message_reads_as_the_contract_says),
        FRESH(a_letter_reads_as_the_contract_says),
        FRESH(a_row_has_no_body_stack_or_history),
        FRESH(a_body_is_shown_as_what_it_is),
        FRESH(every_member_has_a_number_of_its_own),
        FRESH(an_envelope_that_was_stored_as_json_is_still_read),
        FRESH(stored_members_of_a_newer_version_are_passed_over),
        FRESH(stored_numbers_survive_exactly),
        FRESH(members_of_a_newer_version_are_passed_over),
        FRESH(damaged_text_is_corrupt),
        FRESH(an_arena_that_is_used_up_is_not_taken_for_damage),
        FRESH(bytes_that_are_not_utf8_are_replaced),
        FRESH(a_time_that_cannot_be_written_does_not_damage_the_rest),
        FRESH(history_keeps_the_newest_lines),
        FRESH(a_used_up_arena_leaves_history_as_it_was),
        FRESH(a_failure_is_copied_clipped_and_fingerprinted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
