/* Whole queries: the store kept in memory, jq with real helper processes. */
#include "triage/query/query.h"

#include <stdio.h>

#include "base/json/json.h"
#include "jq/jq_pool.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/query/selection.h"
#include "triage/query/jq_filter.h"

enum { TEXT_MAX = 16 * 1024 * 1024, PATIENT_MS = 60000, LETTERS = 3 * JQ_FILTER_WINDOW + 5 };

static const struct wall start_at = {1763182181123};
static const char *helper_program;

static struct store *store;
static struct jq *jq;
static struct query query;
static struct buf out;
static struct arena arena;
static struct err err;

/* ---- what is in the store ---- */

static void assert_durable(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static void put(const struct envelope *envelope, const char *body) {
    struct store_op op = {.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, envelope->queue),
                          .envelope = envelope,
                          .body = bytes_of(body)};
    struct store_commit commit = {.ops = &op, .count = 1, .done = assert_durable};
    store->vtable->submit(store, &commit);
}

static void put_letter(unsigned number, enum state state, const char *body) {
    char id[32], letter_id[32];
    snprintf(id, sizeof id, "m-%03u", number);
    snprintf(letter_id, sizeof letter_id, "l-%03u", number);
    struct envelope envelope = {
        .id = bytes_of(id),
        .letter_id = bytes_of(letter_id),
        .queue = BYTES("orders"),
        .dlq = BYTES("orders.dlq"),
        .state = state,
        .cause = CAUSE_TERMINAL,
        .category = BYTES("bug"),
        .reason = BYTES("bug"),
        .content_type = BYTES("application/json"),
        .source = BYTES("{\"kind\":\"builtin\"}"),
        .failed = true,
        .kind = KIND_STATUS,
        .error_type = BYTES("KeyError"),
        .stack_trace = BYTES("a trace"),
        .retry_after_ms = -1,
        .attempts = 1,
        .created_at = start_at,
        .dead_at = {start_at.ms + number},
        .size = strlen(body),
    };
    put(&envelope, body);
}

/* Letters 0 … LETTERS-1, each with its own number as body {"n":…}. */
static void put_letters(void) {
    for (unsigned i = 0; i < LETTERS; i++) {
        char body[32];
        snprintf(body, sizeof body, "{\"n\":%u}", i);
        put_letter(i, STATE_PENDING_REVIEW, body);
    }
}

static int start(void **state) {
    (void)state;
    store = fake_store_new(true);
    jq = jq_pool_new(&(struct jq_pool_options){
        .program = helper_program, .helpers = 2, .timeout_ms = PATIENT_MS});
    query_init(&query, QUERY_LETTERS);
    buf_init_heap(&out, TEXT_MAX);
    arena_init_heap(&arena, 4096);
    return 0;
}

static int end(void **state) {
    (void)state;
    store->vtable->close(store);
    jq->vtable->free(jq);
    buf_free(&out);
    arena_free(&arena);
    return 0;
}

/* ---- asking ---- */

static void set(const char *name, const char *value) {
    assert_int_equal(query_set(&query, bytes_of(name), bytes_of(value), start_at, &arena, &err),
                     STATUS_OK);
}

static struct json run(void) {
    struct json whole;
    query_finish(&query);
    buf_clear(&out);
    if (query_run(store, jq, &query, &out, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    assert_int_equal(json_parse(buf_view(&out), &whole, NULL), STATUS_OK);
    return whole;
}

static struct json member(struct json object, const char *name) {
    struct json value;
    if (!json_get(object, name, &value))
        fail_msg("%s is missing in %.*s", name, BYTES_ARG(object.text));
    return value;
}

static bool has(struct json object, const char *name) {
    struct json value;
    return json_get(object, name, &value);
}

static struct bytes text_of(struct json value) {
    struct bytes text;
    assert_true(json_string(value, &arena, &text));
    return text;
}

/* "l-004 l-003" */
static struct bytes ids_of(struct json page, const char *key) {
    struct buf ids;
    char *memory = arena_alloc(&arena, 4096);
    buf_init_fixed(&ids, memory, 4096);
    for (struct json_walk rows = json_walk(member(page, key)); json_step(&rows);) {
        if (ids.len)
            buf_char(&ids, ' ');
        buf_bytes(&ids, text_of(member(rows.value, "id")));
    }
    return buf_view(&ids);
}

static size_t count_rows(struct json page) {
    size_t count = 0;
    for (struct json_walk rows = json_walk(member(page, "letters")); json_step(&rows);)
        count++;
    return count;
}

/* ---- tests ---- */

static void a_list_is_newest_first_and_has_a_cursor(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5; i++)
        put_letter(i, STATE_PENDING_REVIEW, "{}");
    set("limit", "2");
    struct json page = run();
    assert_bytes(ids_of(page, "letters"), "l-004 l-003");
    query.filter.cursor = arena_dup(&arena, text_of(member(page, "cursor")));
    page = run();
    assert_bytes(ids_of(page, "letters"), "l-002 l-001");
    query.filter.cursor = arena_dup(&arena, text_of(member(page, "cursor")));
    page = run();
    assert_bytes(ids_of(page, "letters"), "l-000");
    assert_int_equal(member(page, "cursor").type, JSON_NULL);
}

static void a_row_has_no_body_no_trace_and_no_history(void **state) {
    (void)state;
    put_letter(1, STATE_PENDING_REVIEW, "{\"secret\":1}");
    struct json page = run();
    struct json_walk rows = json_walk(member(page, "letters"));
    assert_true(json_step(&rows));
    assert_false(has(rows.value, "history"));
    assert_false(has(member(rows.value, "message"), "body"));
    assert_false(has(member(rows.value, "failure"), "stack_trace"));
    assert_bytes(text_of(member(member(rows.value, "failure"), "error_type")), "KeyError");
    assert_false(has(page, "skipped"));
    assert_false(has(page, "behind"));
}

static void only_unresolved_letters_are_shown_by_default(void **state) {
    (void)state;
    put_letter(1, STATE_PENDING_REVIEW, "{}");
    put_letter(2, STATE_DISCARDED, "{}");
    assert_bytes(ids_of(run(), "letters"), "l-001");
    set("state", "discarded");
    query.filter.states = 1u << STATE_DISCARDED;
    assert_bytes(ids_of(run(), "letters"), "l-002");
}

static void messages_are_listed_under_their_own_word(void **state) {
    (void)state;
    put(&(struct envelope){.id = BYTES("m-9"),
                           .queue = BYTES("orders"),
                           .state = STATE_QUEUED,
                           .source = BYTES("{\"kind\":\"builtin\"}"),
                           .retry_after_ms = -1,
                           .created_at = start_at},
        "{}");
    query_init(&query, QUERY_MESSAGES);
    assert_bytes(ids_of(run(), "messages"), "m-9");
}

static void where_sees_the_envelope_with_its_body(void **state) {
    (void)state;
    put_letters();
    set("where", ".message.body.n % 20 == 3 and .failure.error_type == \"KeyError\"");
    struct json page = run();
    assert_bytes(ids_of(page, "letters"), "l-043 l-023 l-003");
    assert_int_equal(member(page, "cursor").type, JSON_NULL);
    assert_false(has(page, "skipped"));
}

static void where_pages_neither_repeat_nor_pass_over(void **state) {
    (void)state;
    bool seen[LETTERS] = {false};
    put_letters();
    set("where", ".message.body.n % 2 == 0");
    set("limit", "3");
    for (bool more = true; more;) {
        struct json page = run();
        for (struct json_walk rows = json_walk(member(page, "letters")); json_step(&rows);) {
            unsigned number = (unsigned)atoi(text_of(member(rows.value, "id")).ptr + 2);
            assert_false(seen[number]);
            seen[number] = true;
        }
        assert_true(count_rows(page) <= 3);
        more = member(page, "cursor").type == JSON_STRING;
        if (more)
            query.filter.cursor = arena_dup(&arena, text_of(member(page, "cursor")));
    }
    for (unsigned i = 0; i < LETTERS; i++)
        assert_int_equal(seen[i], i % 2 == 0);
}

static void letters_on_which_where_fails_are_counted(void **state) {
    (void)state;
    put_letter(1, STATE_PENDING_REVIEW, "{\"n\":1}");
    put_letter(2, STATE_PENDING_REVIEW, "{\"n\":\"two\"}");
    put_letter(3, STATE_PENDING_REVIEW, "{\"n\":9007199254740993}");
    set("where", "1 - .message.body.n == 0");
    struct json page = run();
    assert_bytes(ids_of(page, "letters"), "l-001");
    assert_bytes(member(page, "skipped").text, "2");
    assert_bytes(text_of(member(page, "skipped_why")),
                 "the program computes with 9007199254740993, which a double cannot hold exactly "
                 "(at .message.body.n)");
}

static void where_compares_long_ids_exactly(void **state) {
    (void)state;
    put_letter(1, STATE_PENDING_REVIEW, "{\"id\":12345678901234567890}");
    put_letter(2, STATE_PENDING_REVIEW, "{\"id\":12345678901234567891}");
    put_letter(3, STATE_PENDING_REVIEW, "{\"id\":9007199254740993}");
    set("where", ".message.body.id == 12345678901234567891");
    assert_bytes(ids_of(run(), "letters"), "l-002");
    set("where", ".message.body.id == 9007199254740992");
    assert_bytes(ids_of(run(), "letters"), "");
}

static void a_where_that_does_not_compile_is_refused_whole(void **state) {
    (void)state;
    put_letter(1, STATE_PENDING_REVIEW, "{}");
    set("where", ".a |");
    query_finish(&query);
    buf_str(&out, "before");
    assert_int_equal(query_run(store, jq, &query, &out, &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "syntax error"));
    assert_bytes(buf_view(&out), "before");
}

/* ---- bounds ---- */

static int64_t clock_ms, clock_step_ms;

static struct instant step(struct clock *clock) {
    (void)clock;
    clock_ms += clock_step_ms;
    return (struct instant){start_at, {clock_ms}};
}
static struct clock stepping = {.now = step};

static void a_where_that_takes_long_goes_on_from_its_cursor(void **state) {
    (void)state;
    put_letters();
    set("where", ".message.body.n < 2");
    query.clock = &stepping;
    clock_step_ms = QUERY_WHERE_MS / 2 + 1; /* a window each */
    struct json page = run();
    assert_bytes(ids_of(page, "letters"), "");
    assert_int_equal(atoi(member(page, "looked_at").text.ptr), 2 * JQ_FILTER_WINDOW);
    query.filter.cursor = arena_dup(&arena, text_of(member(page, "cursor")));
    query.clock = NULL;
    page = run();
    assert_bytes(ids_of(page, "letters"), "l-001 l-000");
    assert_int_equal(member(page, "cursor").type, JSON_NULL);
    assert_false(has(page, "looked_at"));
}

static bool leaves_at_the_second_look(const void *asker) {
    return ++*(int *)(uintptr_t)asker == 2;
}

static void nothing_is_looked_at_for_those_who_left(void **state) {
    (void)state;
    int looks = 0;
    put_letters();
    set("where", "false");
    query.gone = leaves_at_the_second_look;
    query.asker = &looks;
    query_finish(&query);
    assert_int_equal(query_run(store, jq, &query, &out, &err), STATUS_BUSY);
    assert_int_equal(looks, 2);
    assert_int_equal(out.len, 0);
}

static bool count_letter(void *arg, const struct selection_letter *letter) {
    (void)letter;
    ++*(int *)arg;
    return true;
}

static void a_selection_by_where_is_bounded_in_time(void **state) {
    (void)state;
    struct triage triage;
    struct selection selection;
    struct selection_result walked;
    int visited = 0;
    put_letters();
    triage_init(&triage, &stepping, 7);
    triage.store = store;
    triage.jq = jq;
    clock_step_ms = SELECTION_WHERE_MS;
    selection_init(&selection);
    assert_int_equal(
        selection_set(&selection, BYTES("where"), BYTES("true"), start_at, &arena, &err),
        STATUS_OK);
    assert_int_equal(selection_finish(&selection, &err), STATUS_OK);
    assert_int_equal(
        selection_walk(&triage, &selection, count_letter, &visited, &arena, &walked, &err),
        STATUS_INVALID);
    assert_non_null(strstr(err.text, "examined 16 letters in 30 s, and there are more; narrow"));
    selection.in_parts = true;
    for (visited = 0;; selection.query.filter.cursor = walked.cursor) {
        assert_int_equal(
            selection_walk(&triage, &selection, count_letter, &visited, &arena, &walked, &err),
            STATUS_OK);
        if (!walked.cursor.ptr)
            break;
        assert_int_equal(visited % JQ_FILTER_WINDOW, 0);
    }
    assert_int_equal(visited, LETTERS);
    triage_free(&triage);
}

static void a_cursor_that_is_not_one_is_refused(void **state) {
    (void)state;
    set("cursor", "not a cursor");
    query_finish(&query);
    assert_int_equal(query_run(store, NULL, &query, &out, &err), STATUS_INVALID);
    assert_int_equal(out.len, 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, start, end)

int main(int count, char **arguments) {
    assert_int_equal(count, 2);
    helper_program = arguments[1];
    const struct CMUnitTest tests[] = {
        CASE(a_list_is_newest_first_and_has_a_cursor),
        CASE(a_row_has_no_body_no_trace_and_no_history),
        CASE(only_unresolved_letters_are_shown_by_default),
        CASE(messages_are_listed_under_their_own_word),
        CASE(where_sees_the_envelope_with_its_body),
        CASE(where_pages_neither_repeat_nor_pass_over),
        CASE(letters_on_which_where_fails_are_counted),
        CASE(where_compares_long_ids_exactly),
        CASE(a_where_that_does_not_compile_is_refused_whole),
        CASE(a_where_that_takes_long_goes_on_from_its_cursor),
        CASE(nothing_is_looked_at_for_those_who_left),
        CASE(a_selection_by_where_is_bounded_in_time),
        CASE(a_cursor_that_is_not_one_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
