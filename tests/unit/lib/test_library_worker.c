/* The library's second half, through its header alone: a worker in this process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <impound/impound.h>

enum { PATIENCE_MS = 600 * 1000 };

static char folder[64], store[96];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/impound-library-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(store, sizeof store, "sqlite:%s/i.db", folder);
    return 0;
}

static int remove_folder(void **state) {
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static const char plain[] = "server: {drain: 50ms}\n"
                            "queues:\n"
                            "  q:\n"
                            "    handler: callback\n"
                            "    retry: {base: 1ms, cap: 5ms, budget_floor: 1000/s}\n"
                            "    breaker: off\n";

static enum impound_status open_with(const char *config, struct impound_worker **out,
                                     struct impound_error *error) {
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    options.config_text = config;
    options.store = store;
    return impound_worker_open(&options, out, error);
}

static struct impound_worker *started(impound_handler *handler, void *arg) {
    struct impound_worker *worker;
    struct impound_error error = {0, ""};
    if (open_with(plain, &worker, &error) != IMPOUND_OK ||
        impound_worker_handle(worker, "q", 4, handler, arg, &error) != IMPOUND_OK ||
        impound_worker_start(worker, &error) != IMPOUND_OK)
        fail_msg("%s", error.text);
    return worker;
}

static void push_text(struct impound_worker *worker, const char *id, const char *body) {
    struct impound_push push = IMPOUND_PUSH_INIT;
    struct impound_error error;
    push.id = id;
    push.body = body;
    push.body_len = strlen(body);
    if (impound_push(worker, "q", &push, NULL, &error) != IMPOUND_OK)
        fail_msg("%s", error.text);
}

static void wait_idle(struct impound_worker *worker) {
    assert_int_equal(impound_worker_wait_idle(worker, PATIENCE_MS, NULL), IMPOUND_OK);
}

static struct impound_stats stats_of(struct impound_worker *worker) {
    struct impound_stats stats = IMPOUND_STATS_INIT;
    assert_int_equal(impound_worker_stats(worker, "q", &stats, NULL), IMPOUND_OK);
    return stats;
}

/* ---- handlers ---- */

static int count(const struct impound_message *message, struct impound_outcome *outcome,
                 void *arg) {
    (void)message, (void)outcome;
    atomic_fetch_add((atomic_int *)arg, 1);
    return IMPOUND_HANDLED;
}

static int look_at_everything(const struct impound_message *message,
                              struct impound_outcome *outcome, void *arg) {
    struct impound_header header;
    size_t len;
    const void *body = impound_message_body(message, &len);
    bool good = len == 3 && memcmp(body, "a\0b", 3) == 0 &&
                strcmp(impound_message_queue(message), "q") == 0 &&
                strcmp(impound_message_id(message), "m-1") == 0 &&
                strcmp(impound_message_key(message), "k") == 0 &&
                strcmp(impound_message_content_type(message), "text/x") == 0 &&
                impound_message_header_count(message) == 1 &&
                impound_message_header(message, 0, &header) && strcmp(header.name, "a") == 0 &&
                strcmp(header.value, "b") == 0 && !impound_message_header(message, 1, &header) &&
                impound_message_attempt(message) == 1 && impound_message_replay(message) == 0 &&
                !impound_message_cancelled(message);
    if (!good)
        impound_outcome_fail(outcome, "Wrong", "not what was pushed");
    atomic_store((atomic_int *)arg, good ? 1 : -1);
    return IMPOUND_HANDLED;
}

static int fail_by_body(const struct impound_message *message, struct impound_outcome *outcome,
                        void *arg) {
    size_t len;
    const char *body = impound_message_body(message, &len);
    (void)arg;
    if (body[0] == 'r') { /* retried until it is dead */
        impound_outcome_fail(outcome, "Busy", "try later");
        impound_outcome_set_status(outcome, 503);
    } else if (body[0] == 'v') {
        impound_outcome_fail(outcome, NULL, "no price");
        impound_outcome_set_status(outcome, 422);
        impound_outcome_set_stack_trace(outcome, "at price (price.js:1:1)");
        impound_outcome_set_version(outcome, "1.4.2");
    } else if (body[0] == 'n') {
        return -7;
    }
    return IMPOUND_HANDLED;
}

struct later {
    atomic_ullong token;
    atomic_int calls;
};

static int leave_it(const struct impound_message *message, struct impound_outcome *outcome,
                    void *arg) {
    struct later *later = arg;
    (void)outcome;
    atomic_store(&later->token, impound_message_token(message));
    atomic_fetch_add(&later->calls, 1);
    return IMPOUND_LATER;
}

static int until_cancelled(const struct impound_message *message, struct impound_outcome *outcome,
                           void *arg) {
    atomic_store((atomic_int *)arg, 1);
    while (!impound_message_cancelled(message))
        sched_yield();
    impound_outcome_interrupt(outcome);
    return IMPOUND_HANDLED;
}

static void await(atomic_int *value, int wanted) {
    while (atomic_load(value) < wanted)
        sched_yield();
}

/* ---- tests ---- */

static void what_was_pushed_before_the_start_is_handled(void **state) {
    atomic_int calls = 0;
    struct impound_worker *worker;
    struct impound_push batch[100];
    struct impound_receipt receipts[100];
    static const struct impound_push empty = IMPOUND_PUSH_INIT;
    (void)state;
    assert_int_equal(open_with(plain, &worker, NULL), IMPOUND_OK);
    for (int i = 0; i < 100; i++)
        batch[i] = empty;
    assert_int_equal(impound_push_batch(worker, "q", batch, 100, receipts, NULL), IMPOUND_OK);
    assert_string_not_equal(receipts[0].id, receipts[99].id);
    assert_int_equal(strlen(receipts[5].id), 36);
    assert_int_equal(impound_worker_handle(worker, "q", 2, count, &calls, NULL), IMPOUND_OK);
    assert_int_equal(impound_worker_start(worker, NULL), IMPOUND_OK);
    wait_idle(worker);
    assert_int_equal(atomic_load(&calls), 100);
    assert_int_equal(stats_of(worker).ok, 100);
    impound_worker_free(worker);
}

static void a_handler_sees_the_message_as_it_was_pushed(void **state) {
    static const struct impound_header headers[] = {{"a", "b"}};
    atomic_int seen = 0;
    struct impound_push push = IMPOUND_PUSH_INIT;
    (void)state;
    struct impound_worker *worker = started(look_at_everything, &seen);
    push.id = "m-1";
    push.key = "k";
    push.body = "a\0b";
    push.body_len = 3;
    push.content_type = "text/x";
    push.headers = headers;
    push.header_count = 1;
    assert_int_equal(impound_push(worker, "q", &push, NULL, NULL), IMPOUND_OK);
    wait_idle(worker);
    assert_int_equal(atomic_load(&seen), 1);
    impound_worker_free(worker);
}

static void failures_are_retried_or_end_as_letters(void **state) {
    char *json;
    struct impound_error error;
    (void)state;
    struct impound_worker *worker = started(fail_by_body, NULL);
    push_text(worker, "retried", "r");
    push_text(worker, "wrong", "v");
    push_text(worker, "strange", "n");
    push_text(worker, "good", "g");
    wait_idle(worker);
    struct impound_stats stats = stats_of(worker);
    assert_int_equal(stats.ok, 1);
    assert_int_equal(stats.dead, 3);
    assert_int_equal(stats.retried, 4);
    assert_int_equal(stats.depth, 0);
    assert_int_equal(impound_worker_get(worker, "q", "retried", &json, NULL), IMPOUND_OK);
    assert_non_null(strstr(json, "\"reason\":\"max_attempts:upstream_busy\""));
    impound_text_free(json);
    assert_int_equal(impound_worker_get(worker, NULL, "strange", &json, NULL), IMPOUND_OK);
    assert_non_null(strstr(json, "the handler returned -7"));
    assert_non_null(strstr(json, "\"cause\":\"unclassified\""));
    impound_text_free(json);
    assert_int_equal(impound_worker_letters(worker, "dlq=q.dlq&category=validation", &json, NULL),
                     IMPOUND_OK);
    assert_non_null(strstr(json, "\"id\":\"wrong\""));
    assert_null(strstr(json, "\"id\":\"strange\""));
    impound_text_free(json);
    assert_int_equal(impound_worker_letters(worker, "colour=red", &json, &error), IMPOUND_INVALID);
    assert_int_equal(impound_worker_get(worker, "q", "good", &json, &error), IMPOUND_NOT_FOUND);
    impound_worker_free(worker);
}

static void an_id_is_held_once(void **state) {
    struct impound_push items[2] = {IMPOUND_PUSH_INIT, IMPOUND_PUSH_INIT};
    struct impound_receipt receipts[2];
    struct impound_worker *worker;
    struct impound_error error;
    (void)state;
    assert_int_equal(open_with(plain, &worker, NULL), IMPOUND_OK);
    items[0].id = items[1].id = "a";
    items[0].body = items[1].body = "x";
    items[0].body_len = items[1].body_len = 1;
    assert_int_equal(impound_push_batch(worker, "q", items, 2, receipts, NULL), IMPOUND_OK);
    assert_false(receipts[0].duplicate);
    assert_true(receipts[1].duplicate);
    assert_int_equal(impound_push(worker, "q", items, receipts, NULL), IMPOUND_OK);
    assert_true(receipts[0].duplicate);
    items[0].body_len = 0;
    assert_int_equal(impound_push(worker, "q", items, NULL, &error), IMPOUND_CONFLICT);
    items[0].body_len = 1;
    items[1].body_len = 0;
    assert_int_equal(impound_push_batch(worker, "q", items, 2, NULL, &error), IMPOUND_CONFLICT);
    assert_non_null(strstr(error.text, "message 2"));
    impound_worker_free(worker);
}

static void what_cannot_be_pushed_is_refused_with_its_place(void **state) {
    static const struct impound_header bad_header[] = {{"a b", "c"}};
    struct impound_push push = IMPOUND_PUSH_INIT;
    struct impound_worker *worker;
    struct impound_error error;
    (void)state;
    assert_int_equal(open_with(plain, &worker, NULL), IMPOUND_OK);
    assert_int_equal(impound_push(worker, "nowhere", &push, NULL, &error), IMPOUND_NOT_FOUND);
    push.id = "";
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_INVALID);
    push.id = "tab\t";
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_INVALID);
    push.id = NULL;
    push.headers = bad_header;
    push.header_count = 1;
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_INVALID);
    push.header_count = 0;
    push.delay_ms = -1;
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_INVALID);
    push.delay_ms = 0;
    push.body_len = 5 << 20;
    push.body = calloc(1, push.body_len);
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_TOO_LARGE);
    assert_non_null(strstr(error.text, "message 1"));
    free((void *)(uintptr_t)push.body);
    push.size = 0;
    assert_int_equal(impound_push(worker, "q", &push, NULL, &error), IMPOUND_INVALID);
    impound_worker_free(worker);
}

static void what_is_answered_later_ends_when_it_is_completed(void **state) {
    struct later later = {0};
    (void)state;
    struct impound_worker *worker = started(leave_it, &later);
    struct impound_outcome *outcome = impound_outcome_new();
    push_text(worker, "a", "x");
    await(&later.calls, 1);
    uint64_t token = atomic_load(&later.token);
    impound_outcome_fail(outcome, "Busy", NULL);
    impound_outcome_set_status(outcome, 503);
    assert_int_equal(impound_complete(worker, token, outcome), IMPOUND_OK);
    assert_int_equal(impound_complete(worker, token, outcome), IMPOUND_NOT_FOUND);
    await(&later.calls, 2);
    impound_outcome_ok(outcome);
    assert_int_equal(impound_complete(worker, atomic_load(&later.token), outcome), IMPOUND_OK);
    wait_idle(worker);
    assert_int_equal(stats_of(worker).ok, 1);
    assert_int_equal(impound_complete(worker, UINT64_MAX, outcome), IMPOUND_NOT_FOUND);
    impound_outcome_free(outcome);
    impound_worker_free(worker);
}

static void a_stop_interrupts_and_the_next_start_goes_on(void **state) {
    struct later later = {0};
    atomic_int entered = 0, calls = 0;
    char *json;
    (void)state;
    struct impound_worker *worker = started(leave_it, &later);
    push_text(worker, "later", "x");
    await(&later.calls, 1);
    impound_worker_free(worker);
    worker = started(until_cancelled, &entered);
    await(&entered, 1);
    impound_worker_stop(worker);
    assert_int_equal(stats_of(worker).interrupted, 1);
    assert_int_equal(impound_worker_get(worker, "q", "later", &json, NULL), IMPOUND_OK);
    assert_non_null(strstr(json, "\"attempts\":0,\"max_attempts\":5"));
    assert_non_null(strstr(json, "\"crashes\":0"));
    assert_null(strstr(json, "\"suspect\":true"));
    impound_text_free(json);
    impound_worker_free(worker);
    worker = started(count, &calls);
    wait_idle(worker);
    assert_int_equal(atomic_load(&calls), 1);
    impound_worker_free(worker);
}

static void a_paused_queue_hands_nothing_over(void **state) {
    atomic_int calls = 0;
    struct impound_error error;
    (void)state;
    struct impound_worker *worker = started(count, &calls);
    assert_int_equal(impound_worker_pause(worker, "q", "a release", NULL), IMPOUND_OK);
    struct impound_stats stats = stats_of(worker);
    assert_int_equal(stats.state, IMPOUND_QUEUE_PAUSED);
    assert_string_equal(stats.why, "a release");
    push_text(worker, "a", "x");
    assert_int_equal(impound_worker_wait_idle(worker, 20, &error), IMPOUND_BUSY);
    assert_int_equal(atomic_load(&calls), 0);
    assert_int_equal(stats_of(worker).queued, 1);
    assert_int_equal(impound_worker_resume(worker, "q", NULL), IMPOUND_OK);
    wait_idle(worker);
    assert_int_equal(atomic_load(&calls), 1);
    assert_int_equal(impound_worker_pause(worker, "nowhere", NULL, NULL), IMPOUND_NOT_FOUND);
    impound_worker_stop(worker);
    assert_int_equal(impound_worker_pause(worker, "q", NULL, &error), IMPOUND_BUSY);
    impound_worker_free(worker);
}

static void a_worker_that_cannot_run_says_why(void **state) {
    static const struct {
        const char *config, *told;
    } rows[] = {
        {"queues: {q: {handler: {http: \"http://h\"}}}", "handler: callback"},
        {"queues: {q: {handler: calback}}", "configuration:1:23"},
        {"queues: {q: {handler: callback, classify: {rules: [{when: {jq: .a}, do: dlq}]}}}",
         "jq runs in processes"},
        {"queues: {q: {handler: callback}}\n"
         "alerts: {to: [{name: w, webhook: \"http://127.0.0.1:1\"}]}",
         "alerts are sent by impound serve"},
#ifdef IMPOUND_REDIS
        {"queues: {q: {handler: callback, source: \"redis://h/0?list=l\"}}", "source: builtin"},
        {"queues: {q: {handler: callback, dlq: {mirror: \"redis://h/0?list=l\"}}}", "no mirror"},
#endif
    };
    struct impound_worker *worker = NULL, *second;
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    struct impound_stats stats = IMPOUND_STATS_INIT;
    struct impound_error error;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(open_with(rows[i].config, &worker, &error), IMPOUND_INVALID);
        if (!strstr(error.text, rows[i].told))
            fail_msg("%s: %s", rows[i].config, error.text);
    }
    assert_int_equal(impound_worker_open(&options, &worker, &error), IMPOUND_INVALID);
    options.config_file = "/nowhere/impound.yaml";
    assert_int_equal(impound_worker_open(&options, &worker, &error), IMPOUND_NOT_FOUND);
    assert_int_equal(open_with(plain, &worker, &error), IMPOUND_OK);
    assert_int_equal(open_with(plain, &second, &error), IMPOUND_BUSY);
    assert_int_equal(impound_worker_stats(worker, "q", &stats, &error), IMPOUND_INVALID);
    assert_int_equal(impound_worker_start(worker, &error), IMPOUND_INVALID);
    assert_non_null(strstr(error.text, "\"q\" has no handler"));
    assert_int_equal(impound_worker_handle(worker, "p", 1, count, NULL, &error), IMPOUND_NOT_FOUND);
    impound_worker_free(worker);
    impound_worker_free(NULL);
}

#define with_folder(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        with_folder(what_was_pushed_before_the_start_is_handled),
        with_folder(a_handler_sees_the_message_as_it_was_pushed),
        with_folder(failures_are_retried_or_end_as_letters),
        with_folder(an_id_is_held_once),
        with_folder(what_cannot_be_pushed_is_refused_with_its_place),
        with_folder(what_is_answered_later_ends_when_it_is_completed),
        with_folder(a_stop_interrupts_and_the_next_start_goes_on),
        with_folder(a_paused_queue_hands_nothing_over),
        with_folder(a_worker_that_cannot_run_says_why),
    };
    return cmocka_run_group_tests_name("library worker", tests, NULL, NULL);
}
