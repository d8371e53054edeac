/* Decisions and their audit, selections, diffs and stripped headers, on the store kept in memory.
 */
#include "triage/decide/decision.h"

#include <stdio.h>

#include "base/json/json.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/query/audit.h"
#include "triage/query/diff.h"
#include "triage/replay/scrub_headers.h"

enum { TEXT_MAX = 1 << 20, LETTERS = 2500 }; /* half of them: more than one commit */

static struct store *store;
static struct triage triage;
static struct arena arena;
static struct buf out;
static struct err err;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1763182181123}, {1000}};
}
static struct clock test_clock = {.now = read_clock};

static void assert_durable(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static bool read_only, body_damaged; /* the letters that are put */

static void put_letter(unsigned number, enum state state) {
    char id[32], letter_id[32];
    snprintf(id, sizeof id, "m-%u", number);
    snprintf(letter_id, sizeof letter_id, "l-%u", number);
    struct envelope envelope = {.id = bytes_of(id),
                                .letter_id = bytes_of(letter_id),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .state = state,
                                .reason = number % 2 ? BYTES("odd") : BYTES("even"),
                                .content_type = BYTES("application/json"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1,
                                .read_only = read_only,
                                .body_damaged = body_damaged,
                                .context = BYTES("{\"adopted\":{\"from\":\"legacy\"}}"),
                                .replay = state == STATE_REPLAYING ? BYTES("r-1") : BYTES_NONE,
                                .created_at = {1763182181000},
                                .dead_at = {1763182181000 + number}};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, BYTES("orders")),
                          .envelope = &envelope,
                          .body = BYTES("{}")};
    struct store_commit commit = {.ops = &op, .count = 1, .done = assert_durable};
    store->vtable->submit(store, &commit);
}

static int start(void **state) {
    (void)state;
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    arena_init_heap(&arena, 4096);
    buf_init_heap(&out, TEXT_MAX);
    return 0;
}

static int end(void **state) {
    (void)state;
    store->vtable->close(store);
    triage_free(&triage);
    arena_free(&arena);
    buf_free(&out);
    return 0;
}

static struct letter_decision ruling_of(enum decision_kind kind, const char *reason) {
    struct letter_decision ruling = {.kind = kind, .who = BYTES("ada"), .why = BYTES("because")};
    selection_init(&ruling.selection);
    ruling.selection.all = reason == NULL;
    if (reason)
        assert_int_equal(selection_set(&ruling.selection, BYTES("reason"), bytes_of(reason),
                                       (struct wall){1763182181123}, &arena, &err),
                         STATUS_OK);
    assert_int_equal(selection_finish(&ruling.selection, &err), STATUS_OK);
    return ruling;
}

static size_t audit_entries(void) {
    struct json json, array;
    size_t count = 0;
    buf_clear(&out);
    assert_int_equal(audit_list(&triage, BYTES_NONE, AUDIT_LIMIT_MAX, &out, &err), STATUS_OK);
    assert_int_equal(json_parse(buf_view(&out), &json, NULL), STATUS_OK);
    assert_true(json_get(json, "audit", &array));
    for (struct json_walk walk = json_walk(array); json_step(&walk);)
        count++;
    return count;
}

static void assert_audit_has(const char *part) {
    if (bytes_find(buf_view(&out), bytes_of(part)) == out.len)
        fail_msg("\"%s\" is not in %.*s", part, BYTES_ARG(buf_view(&out)));
}

static void many_letters_are_one_entry_with_their_number(void **state) {
    (void)state;
    struct decision_result result;
    for (unsigned i = 0; i < LETTERS; i++)
        put_letter(i, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_DISCARD, "odd");
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, LETTERS / 2);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), LETTERS / 2);
    assert_int_equal(audit_entries(), 1);
    assert_audit_has("\"count\":1250");
}

static void a_dry_run_counts_alike_and_leaves_no_trace(void **state) {
    (void)state;
    struct decision_result result;
    for (unsigned i = 0; i < 10; i++)
        put_letter(i, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_RESOLVE, NULL);
    ruling.dry_run = true;
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 10);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 10);
    assert_int_equal(audit_entries(), 0);
}

static void nobody_decides_about_what_its_broker_has(void **state) {
    (void)state;
    struct decision_result result;
    struct message *held = NULL;
    read_only = true;
    put_letter(1, STATE_PENDING_REVIEW);
    read_only = false;
    struct letter_decision ruling = ruling_of(DECISION_RESOLVE, NULL);
    assert_int_equal(decision_one(&triage, &ruling, BYTES_NONE, BYTES("l-1"), &held, &err),
                     STATUS_CONFLICT);
    assert_non_null(strstr(err.text, "mode: take for \"legacy\""));
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_CONFLICT);
    assert_non_null(strstr(err.text, "read-only"));
    put_letter(2, STATE_PENDING_REVIEW);
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 1);
    assert_int_equal(result.walked.read_only, 1);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1);
    assert_int_equal(audit_entries(), 1);
}

static bool compensates_any(void *arg, struct bytes queue) {
    (void)arg;
    (void)queue;
    return true;
}

/* Letters are visited newest first: the damaged one comes after the one that is compensated. */
static void a_letter_with_a_damaged_body_is_not_compensated(void **state) {
    (void)state;
    struct decision_result result;
    body_damaged = true;
    put_letter(0, STATE_PENDING_REVIEW);
    body_damaged = false;
    put_letter(1, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_COMPENSATE, NULL);
    ruling.compensates = compensates_any;
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.matched, 2);
    assert_int_equal(result.changed, 1);
}

static void what_is_being_replayed_is_left_alone(void **state) {
    (void)state;
    struct decision_result result;
    struct message *held = NULL;
    put_letter(1, STATE_PENDING_REVIEW);
    put_letter(2, STATE_REPLAYING);
    struct letter_decision ruling = ruling_of(DECISION_RESOLVE, NULL);
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.matched, 2);
    assert_int_equal(result.changed, 1);
    assert_int_equal(result.busy, 1);
    assert_int_equal(decision_one(&triage, &ruling, BYTES_NONE, BYTES("l-2"), &held, &err),
                     STATUS_CONFLICT);
    assert_true(bytes_find(bytes_of(err.text), BYTES("r-1")) < strlen(err.text));
    assert_null(held);
}

static void a_decision_that_the_store_refuses_is_not_audited(void **state) {
    (void)state;
    struct message *held = NULL;
    put_letter(1, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_DISCARD, NULL);
    fake_store_fail(store, STATUS_FULL, 1);
    assert_int_equal(decision_one(&triage, &ruling, BYTES_NONE, BYTES("l-1"), &held, &err),
                     STATUS_FULL);
    assert_int_equal(audit_entries(), 0);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1);
    assert_int_equal(decision_one(&triage, &ruling, BYTES_NONE, BYTES("m-1"), &held, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_DISCARDED);
    assert_bytes(held->envelope.why, "because");
    message_free(held);
    assert_int_equal(audit_entries(), 1);
}

static void what_a_dry_run_saw_is_decided_and_nothing_newer(void **state) {
    (void)state;
    struct decision_result result;
    for (unsigned i = 0; i < 10; i++)
        put_letter(i, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_DISCARD, "even");
    ruling.dry_run = true;
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 5);
    assert_int_equal(result.walked.until.ms, 1763182181000 + 8 + 1);
    put_letter(10, STATE_PENDING_REVIEW);
    ruling.dry_run = false;
    ruling.selection.query.filter.until = result.walked.until;
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 5);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 6);
    ruling.dry_run = true;
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 0);
    assert_int_equal(result.walked.until.ms, 1763182181123); /* now: whatever comes is newer */
}

static void a_selection_without_a_filter_is_refused(void **state) {
    (void)state;
    struct selection selection;
    selection_init(&selection);
    assert_int_equal(selection_finish(&selection, &err), STATUS_INVALID);
    selection.all = true;
    assert_int_equal(selection_finish(&selection, &err), STATUS_OK);
    assert_int_equal(
        selection_set(&selection, BYTES("limit"), BYTES("3"), (struct wall){1}, &arena, &err),
        STATUS_INVALID);
}

/* ---- diffs ---- */

static void pages_and_a_note_are_as_many_as_are_asked_for(void **state) {
    (void)state;
    struct decision_result result;
    struct bytes kept;
    for (unsigned i = 0; i < LETTERS; i++)
        put_letter(i, STATE_PENDING_REVIEW);
    struct letter_decision ruling = ruling_of(DECISION_DISCARD, NULL);
    ruling.selection.page_max = 2;
    ruling.note = (struct store_keep){
        .space = SPACE_TRIAGE, .name = BYTES("orders.dlq/0"), .value = BYTES("{}")};
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 2 * QUERY_LIMIT_MAX);
    assert_int_equal(letters_note(store->letters, 0, SPACE_TRIAGE, BYTES("orders.dlq/0"),
                                  triage_now(&triage).wall, &arena, &kept, &err),
                     STATUS_OK);
    assert_bytes(kept, "{}");
}

static void ids_are_visited_as_given_when_that_is_asked_for(void **state) {
    (void)state;
    struct decision_result result;
    struct bytes ids[] = {BYTES("l-1"), BYTES("l-3"), BYTES("l-2")};
    for (unsigned i = 0; i < 5; i++)
        put_letter(i, STATE_PENDING_REVIEW);
    struct letter_decision ruling = {
        .kind = DECISION_DISCARD, .who = BYTES("ada"), .why = BYTES("x")};
    selection_init(&ruling.selection);
    ruling.selection.ids = ids;
    ruling.selection.id_count = 3;
    ruling.selection.as_given = true;
    ruling.selection.limit = 1;
    assert_int_equal(selection_finish(&ruling.selection, &err), STATUS_OK);
    assert_int_equal(decision_many(&triage, &ruling, &arena, &result, &err), STATUS_OK);
    assert_int_equal(result.changed, 1);
    struct message *held;
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("l-1"), &held, &err), STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_DISCARDED); /* the first, not the newest */
    message_free(held);
}

static void assert_diff(const char *before, const char *after, const char *expected) {
    struct json left, right;
    buf_clear(&out);
    struct json_out json = json_out(&out);
    assert_int_equal(json_parse(bytes_of(before), &left, NULL), STATUS_OK);
    assert_int_equal(json_parse(bytes_of(after), &right, NULL), STATUS_OK);
    diff_put(left, right, &json);
    assert_bytes(buf_view(&out), expected);
}

static void a_diff_names_what_changed_and_nothing_else(void **state) {
    (void)state;
    assert_diff("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}", "[]");
    assert_diff("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}",
                "[{\"path\":\".b\",\"before\":2,\"after\":3}]");
    assert_diff("{\"a\":{\"b\":[1,2]}}", "{\"a\":{\"b\":[1,3,4]}}",
                "[{\"path\":\".a.b[1]\",\"before\":2,\"after\":3},"
                "{\"path\":\".a.b[2]\",\"after\":4}]");
    assert_diff("{\"a\":1}", "{\"c\":1}",
                "[{\"path\":\".a\",\"before\":1},{\"path\":\".c\",\"after\":1}]");
    assert_diff("1", "\"x\"", "[{\"path\":\".\",\"before\":1,\"after\":\"x\"}]");
}

/* ---- headers ---- */

static void diagnostic_headers_are_told_from_others(void **state) {
    (void)state;
    static const char *const diagnostic[] = {"x-death",
                                             "X-First-Death-Queue",
                                             "__connect.errors.topic",
                                             "kafka_dlt-original-topic",
                                             "NServiceBus.FailedQ",
                                             "MT-Fault-Message",
                                             "dead-letter-topic",
                                             "dlq-original-offset",
                                             "dlq-failed-at",
                                             "Nats-Expected-Last-Sequence"};
    static const char *const own[] = {"x-deadline",   "traceparent", "kafka_topic", "Nats-Msg-Id",
                                      "content-type", "x-",          "dlq-owner",   "dead-letter"};
    for (size_t i = 0; i < sizeof diagnostic / sizeof *diagnostic; i++)
        assert_true(scrub_is_diagnostic(bytes_of(diagnostic[i])));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        assert_false(scrub_is_diagnostic(bytes_of(own[i])));
}

static void only_diagnostic_headers_go(void **state) {
    (void)state;
    const struct rule_header headers[] = {
        {BYTES("a"), BYTES("1")}, {BYTES("x-death"), BYTES("2")}, {BYTES("b"), BYTES("3")}};
    struct envelope envelope = {.headers = headers, .header_count = 3};
    const struct rule_header *left;
    assert_int_equal(scrub_headers(&envelope, &arena, &left), 2);
    assert_bytes(left[1].name, "b");
    envelope.header_count = 1;
    assert_int_equal(scrub_headers(&envelope, &arena, &left), 1);
    assert_ptr_equal(left, headers);
}

static void what_an_adopted_letter_s_convention_reads_goes_from_it_alone(void **state) {
    (void)state;
    const struct rule_header headers[] = {{BYTES("own"), BYTES("1")},
                                          {BYTES("original-topic"), BYTES("orders")},
                                          {BYTES("failure-reason"), BYTES("boom")},
                                          {BYTES("Retry-Count"), BYTES("3")}};
    struct envelope envelope = {
        .headers = headers,
        .header_count = 4,
        .context = BYTES("{\"adopted\":{\"convention\":\"failure-headers\",\"from\":\"a\"}}")};
    const struct rule_header *left;
    assert_int_equal(scrub_headers(&envelope, &arena, &left), 1);
    assert_bytes(left[0].name, "own");
    envelope.context = BYTES("{\"adopted\":{\"convention\":\"plain\"}}");
    assert_int_equal(scrub_headers(&envelope, &arena, &left), 4);
    envelope.context = BYTES_NONE;
    assert_int_equal(scrub_headers(&envelope, &arena, &left), 4);
}

static void an_entry_of_the_audit_is_kept_for_its_time(void **state) {
    (void)state;
    struct audit_entry entry = {.who = BYTES("ada"), .what = "queue.pause"};
    struct bytes text;
    audit_begin(&triage, &entry);
    struct store_op op = audit_op(&entry, &arena);
    assert_int_equal(triage_commit(&triage, &op, 1, &err), STATUS_OK);
    struct wall last = {entry.at.ms + AUDIT_KEPT_MS - 1}, over = {entry.at.ms + AUDIT_KEPT_MS + 1};
    assert_int_equal(
        letters_note(store->letters, 0, SPACE_AUDIT, bytes_of(entry.id), last, &arena, &text, &err),
        STATUS_OK);
    assert_int_equal(
        letters_note(store->letters, 0, SPACE_AUDIT, bytes_of(entry.id), over, &arena, &text, &err),
        STATUS_NOT_FOUND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(many_letters_are_one_entry_with_their_number),
        TEST(an_entry_of_the_audit_is_kept_for_its_time),
        TEST(a_dry_run_counts_alike_and_leaves_no_trace),
        TEST(nobody_decides_about_what_its_broker_has),
        TEST(a_letter_with_a_damaged_body_is_not_compensated),
        TEST(what_is_being_replayed_is_left_alone),
        TEST(a_decision_that_the_store_refuses_is_not_audited),
        TEST(what_a_dry_run_saw_is_decided_and_nothing_newer),
        TEST(a_selection_without_a_filter_is_refused),
        TEST(pages_and_a_note_are_as_many_as_are_asked_for),
        TEST(ids_are_visited_as_given_when_that_is_asked_for),
        TEST(a_diff_names_what_changed_and_nothing_else),
        TEST(what_an_adopted_letter_s_convention_reads_goes_from_it_alone),
        TEST(diagnostic_headers_are_told_from_others),
        TEST(only_diagnostic_headers_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
