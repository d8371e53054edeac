/* The alerts with a store in memory, a clock set by hand and receivers that answer as they are
 * told. */
#include "triage/alerts/alerts.h"

#include <stdio.h>
#include <string.h>

#include "base/json/json.h"
#include "base/containers/list.h"
#include "port/handler.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/alerts/alerts_state.h"

enum { SENT_MAX = 64, SAMPLES_MAX = 8, MINUTE = 60 * 1000 };

struct catcher {
    struct handler handler;
    char sent[SENT_MAX][4096];
    size_t count;
    struct call *call; /* under way, while it is slow */
    int status;        /* what it answers; 0: it cannot be reached */
    bool slow;
};

static struct store *store;
static struct clock hand_clock;
static struct instant now;
static struct alert_sample samples[SAMPLES_MAX];
static size_t sample_count;
static struct catcher hook, pager;
static struct alert_receiver receivers[2];
static struct alerts *alerts;

static const struct alert_rule rules[] = {
    {.name = {"Deep", 4},
     .metric = METRIC_DLQ_DEPTH,
     .subject = {"orders.*", 8},
     .limit = 10,
     .for_ms = MINUTE,
     .repeat_ms = 60 * MINUTE,
     .severity = ALERT_WARNING},
    {.name = {"Halted", 6},
     .metric = METRIC_QUEUE_HALTED,
     .subject = {"*", 1},
     .severity = ALERT_CRITICAL},
    {.name = {"Ticket", 6},
     .metric = METRIC_TRIAGE_ESCALATED,
     .subject = {"*", 1},
     .ticket = true,
     .severity = ALERT_WARNING},
    {.name = {"Lesser", 6},
     .metric = METRIC_QUEUE_LAG,
     .subject = {"*", 1},
     .limit = 0,
     .repeat_ms = 10 * MINUTE,
     .severity = ALERT_WARNING,
     .inhibited_by = {"Greater", 7}},
    {.name = {"Greater", 7},
     .metric = METRIC_QUEUE_LAG,
     .subject = {"*", 1},
     .limit = 100,
     .severity = ALERT_CRITICAL},
};

static struct instant read_clock(struct clock *unused) {
    (void)unused;
    return now;
}

static size_t sample(void *arg, struct wall at, struct arena *arena, struct alert_sample **out) {
    (void)arg, (void)at;
    *out = arena_alloc(arena, sizeof samples);
    memcpy(*out, samples, sizeof samples);
    return sample_count;
}

static void about(void *arg, bool dlq, struct bytes name, struct alert_about *out) {
    (void)arg;
    *out = (struct alert_about){.owner = dlq ? BYTES("team-letters") : BYTES("team-queues"),
                                .runbook = bytes_is(name, "orders.dlq") ? BYTES("https://r/o")
                                                                        : BYTES_NONE};
}

static void answer(struct catcher *catcher, struct call *call) {
    struct outcome outcome = {.ending = ENDING_OK};
    if (catcher->status == 0)
        outcome = (struct outcome){.ending = ENDING_FAILED, .kind = KIND_REFUSED};
    else if (catcher->status >= 300)
        outcome = (struct outcome){
            .ending = ENDING_FAILED, .kind = KIND_STATUS, .status = catcher->status};
    call->done(call, &outcome);
}

static void start_call(struct handler *handler, struct call *call) {
    struct catcher *catcher = CONTAINER_OF(handler, struct catcher, handler);
    snprintf(catcher->sent[catcher->count++], sizeof catcher->sent[0], "%.*s",
             BYTES_ARG(call->body));
    if (catcher->slow)
        catcher->call = call;
    else
        answer(catcher, call);
}

static void cancel_call(struct handler *handler, struct call *call) {
    (void)handler;
    call->done(call, &(struct outcome){.ending = ENDING_INTERRUPTED});
}

static const struct handler_vtable catcher_vtable = {
    .kind = "http", .start = start_call, .cancel = cancel_call};

static void open_alerts(void) {
    struct alerts_options options = {.store = store,
                                     .clock = &hand_clock,
                                     .rules = rules,
                                     .rule_count = sizeof rules / sizeof *rules,
                                     .receivers = receivers,
                                     .receiver_count = 2,
                                     .sample = sample,
                                     .about = about,
                                     .seed = 1};
    struct err err;
    assert_int_equal(alerts_new(&options, &alerts, &err), STATUS_OK);
}

static int start(void **unused) {
    (void)unused;
    hand_clock.now = read_clock;
    now = (struct instant){{1000000000000}, {1000}};
    store = fake_store_new(true);
    hook = (struct catcher){.handler = {&catcher_vtable}, .status = 200};
    pager = (struct catcher){.handler = {&catcher_vtable}, .status = 202};
    receivers[0] = (struct alert_receiver){
        .name = BYTES("hook"), .kind = RECEIVER_WEBHOOK, .handler = &hook.handler};
    receivers[1] = (struct alert_receiver){.name = BYTES("pager"),
                                           .kind = RECEIVER_PAGERDUTY,
                                           .key = BYTES("secret"),
                                           .severity = ALERT_CRITICAL,
                                           .handler = &pager.handler};
    sample_count = 0;
    open_alerts();
    return 0;
}

static int end(void **unused) {
    (void)unused;
    alerts_stop(alerts);
    alerts_run(alerts);
    alerts_free(alerts);
    store->vtable->close(store);
    return 0;
}

static void reads(enum alert_metric metric, const char *subject, double value) {
    sample_count = 1;
    samples[0] = (struct alert_sample){
        .metric = metric, .subject = bytes_of(subject), .value = value, .words = BYTES("because")};
}

/* Turns until nothing more follows from the last one, then lets the time pass. */
static void pass(int64_t ms) {
    for (int i = 0; i < 8; i++)
        alerts_turn(alerts, now);
    now.wall.ms += ms;
    now.mono.ms += ms;
    for (int i = 0; i < 8; i++)
        alerts_turn(alerts, now);
}

static void assert_sent(const struct catcher *catcher, size_t which, const char *part) {
    assert_true(which < catcher->count);
    if (!strstr(catcher->sent[which], part))
        fail_msg("no %s in %s", part, catcher->sent[which]);
}

static void what_fires_is_told_once_and_resolved(void **unused) {
    (void)unused;
    reads(METRIC_DLQ_DEPTH, "orders.dlq", 11);
    pass(MINUTE - 1);
    assert_int_equal(hook.count, 0);
    pass(20 * MINUTE);
    assert_int_equal(hook.count, 1);
    assert_sent(&hook, 0, "\"status\":\"firing\"");
    assert_sent(&hook, 0, "\"dlq\":\"orders.dlq\"");
    assert_sent(&hook, 0, "letters that wait: 11 (above 10): because");
    reads(METRIC_DLQ_DEPTH, "orders.dlq", 10);
    pass(MINUTE);
    assert_int_equal(hook.count, 2);
    assert_sent(&hook, 1, "\"status\":\"resolved\"");
    pass(100 * MINUTE);
    assert_int_equal(hook.count, 2);
}

static void a_rule_is_about_its_subjects_alone(void **unused) {
    (void)unused;
    reads(METRIC_DLQ_DEPTH, "payments.dlq", 1000);
    pass(10 * MINUTE);
    pass(10 * MINUTE);
    assert_int_equal(hook.count, 0);
}

static void a_receiver_hears_of_what_is_bad_enough(void **unused) {
    (void)unused;
    reads(METRIC_QUEUE_HALTED, "orders", 1);
    pass(MINUTE);
    assert_int_equal(pager.count, 1);
    assert_sent(&pager, 0, "\"routing_key\":\"secret\"");
    assert_sent(&pager, 0, "\"event_action\":\"trigger\"");
    assert_sent(&pager, 0, "\"dedup_key\":\"impound/Halted/orders\"");
    sample_count = 0;
    pass(MINUTE);
    assert_sent(&pager, 1, "\"event_action\":\"resolve\"");
    assert_sent(&pager, 1, "\"dedup_key\":\"impound/Halted/orders\"");
}

static void a_receiver_that_cannot_be_reached_loses_nothing(void **unused) {
    (void)unused;
    hook.status = 0;
    reads(METRIC_QUEUE_HALTED, "orders", 1);
    pass(MINUTE);
    sample_count = 0;
    pass(MINUTE);
    assert_true(hook.count >= 1);
    hook.count = 0;
    hook.status = 200;
    pass(10 * MINUTE);
    assert_int_equal(hook.count, 2);
    assert_sent(&hook, 0, "\"status\":\"firing\"");
    assert_sent(&hook, 1, "\"status\":\"resolved\"");
}

static void what_a_receiver_refuses_for_good_blocks_nothing(void **unused) {
    (void)unused;
    hook.status = 400;
    reads(METRIC_QUEUE_HALTED, "orders", 1);
    pass(MINUTE);
    assert_int_equal(hook.count, 1);
    hook.status = 200;
    sample_count = 0;
    pass(MINUTE);
    assert_int_equal(hook.count, 2);
    assert_sent(&hook, 1, "\"status\":\"resolved\"");
}

static void a_restart_tells_nothing_twice_and_forgets_nothing(void **unused) {
    (void)unused;
    pager.status = 0;
    reads(METRIC_QUEUE_HALTED, "orders", 1);
    pass(MINUTE);
    assert_int_equal(hook.count, 1);
    alerts_stop(alerts);
    alerts_run(alerts);
    alerts_free(alerts);
    pager.count = 0;
    pager.status = 202;
    open_alerts();
    pass(MINUTE);
    assert_int_equal(hook.count, 1);
    assert_int_equal(pager.count, 1);
    assert_sent(&pager, 0, "\"event_action\":\"trigger\"");
}

static void alertmanager_is_reminded_of_what_fires(void **unused) {
    (void)unused;
    receivers[0].kind = RECEIVER_ALERTMANAGER;
    reads(METRIC_QUEUE_HALTED, "orders", 1);
    pass(1000);
    size_t first = hook.count;
    assert_sent(&hook, 0, "\"alertname\":\"Halted\"");
    pass(MINUTE + 1);
    assert_int_equal(hook.count, first + 1);
    assert_null(strstr(hook.sent[first], "endsAt"));
    sample_count = 0;
    pass(MINUTE);
    assert_sent(&hook, hook.count - 1, "endsAt");
}

static void a_ticket_goes_to_those_it_names_and_is_never_over(void **unused) {
    (void)unused;
    static const struct bytes to[] = {{"pager", 5}};
    reads(METRIC_TRIAGE_ESCALATED, "orders.dlq/0/t-1", 1);
    samples[0].to = to;
    samples[0].to_count = 1;
    pass(5 * MINUTE);
    assert_int_equal(hook.count, 0);
    assert_int_equal(pager.count, 1);
    assert_sent(&pager, 0, "letters were escalated to a person: because");
    sample_count = 0;
    pass(5 * MINUTE);
    assert_int_equal(pager.count, 1);
    samples[0].subject = BYTES("orders.dlq/0/t-2");
    sample_count = 1;
    pass(5 * MINUTE);
    assert_int_equal(pager.count, 2);
}

static void a_ticket_that_names_nobody_goes_to_all_who_hear_of_it(void **unused) {
    (void)unused;
    reads(METRIC_TRIAGE_ESCALATED, "orders.dlq/0/t-1", 1);
    pass(5 * MINUTE);
    assert_int_equal(hook.count, 1);
    assert_sent(&hook, 0, "letters were escalated to a person: because");
}

static void people_see_what_fires_the_worst_first(void **unused) {
    (void)unused;
    struct buf out;
    struct json whole, list;
    buf_init_heap(&out, 1 << 16);
    reads(METRIC_DLQ_DEPTH, "orders.dlq", 11);
    sample_count = 2;
    samples[1] = (struct alert_sample){
        .metric = METRIC_QUEUE_HALTED, .subject = BYTES("orders"), .value = 1};
    pass(1000);
    alerts_json(alerts, &out);
    assert_int_equal(json_parse(buf_view(&out), &whole, NULL), STATUS_OK);
    assert_true(json_get(whole, "alerts", &list));
    struct json_walk walk = json_walk(list);
    assert_true(json_step(&walk));
    assert_non_null(strstr(walk.value.text.ptr, "\"alert\":\"Halted\",\"state\":\"firing\""));
    assert_true(json_step(&walk));
    assert_true(bytes_starts(walk.value.text, BYTES("{\"alert\":\"Deep\",\"state\":\"pending\"")));
    assert_false(json_step(&walk));
    buf_free(&out);
}

static void many_wakes_are_one_until_the_next_sample(void **unused) {
    (void)unused;
    alerts_turn(alerts, now);
    alerts_wake(alerts);
    assert_true(alerts->mailbox.rung);
    now.mono.ms++;
    struct mono next = alerts_turn(alerts, now);
    assert_true(next.ms <= now.mono.ms + ALERTS_SOON_MS);
    alerts_wake(alerts);
    assert_false(alerts->mailbox.rung);
    now.mono = next;
    alerts_turn(alerts, now);
    alerts_wake(alerts);
    assert_true(alerts->mailbox.rung);
}

static void tried(struct alerts_trial *trial) {
    *(bool *)trial->arg = true;
}

static void a_trial_tells_who_took_it(void **unused) {
    (void)unused;
    struct buf out;
    bool ended = false;
    pager.status = 500;
    buf_init_heap(&out, 1 << 16);
    struct alerts_trial trial = {.done = tried, .arg = &ended, .out = &out};
    alerts_try(alerts, &trial);
    assert_true(ended);
    assert_int_equal(trial.tried, 2);
    assert_string_equal(buf_cstr(&out),
                        "{\"results\":[{\"to\":\"hook\",\"ok\":true},{\"to\":\"pager\",\"ok\":"
                        "false,\"problem\":\"HTTP 500: \"}]}");
    buf_free(&out);
}

/* ---- inhibition ---- */

static void the_lesser_is_not_told_while_the_greater_fires(void **unused) {
    (void)unused;
    reads(METRIC_QUEUE_LAG, "orders", 5);
    pass(MINUTE);
    assert_int_equal(hook.count, 1);
    assert_sent(&hook, 0, "\"alert\":\"Lesser\"");
    reads(METRIC_QUEUE_LAG, "orders", 500);
    pass(60 * MINUTE);
    assert_int_equal(hook.count, 2); /* no repeat of the lesser within the hour */
    assert_sent(&hook, 1, "\"alert\":\"Greater\"");
    reads(METRIC_QUEUE_LAG, "orders", 5);
    pass(20 * MINUTE);
    assert_sent(&hook, 2, "\"status\":\"resolved\",\"alert\":\"Greater\"");
    assert_sent(&hook, 3, "\"alert\":\"Lesser\"");
    assert_sent(&hook, 3, "\"repeat\":true");
    sample_count = 0;
    pass(MINUTE);
    assert_int_equal(hook.count, 5);
    assert_sent(&hook, 4, "\"status\":\"resolved\",\"alert\":\"Lesser\"");
}

static void of_both_at_once_the_greater_alone_is_told(void **unused) {
    (void)unused;
    reads(METRIC_QUEUE_LAG, "orders", 500);
    pass(MINUTE);
    assert_int_equal(hook.count, 1);
    assert_sent(&hook, 0, "\"alert\":\"Greater\"");
    struct buf text;
    buf_init_heap(&text, 1 << 16);
    alerts_json(alerts, &text);
    assert_non_null(strstr(buf_cstr(&text), "\"inhibited_by\":\"Greater\"}"));
    buf_free(&text);
    sample_count = 0;
    pass(MINUTE);
    assert_int_equal(hook.count, 2); /* what was never told is not over either */
    assert_sent(&hook, 1, "\"status\":\"resolved\",\"alert\":\"Greater\"");
}

static void owner_and_runbook_are_told_and_outlive_a_restart(void **unused) {
    (void)unused;
    hook.status = 0;
    reads(METRIC_DLQ_DEPTH, "orders.dlq", 11);
    pass(2 * MINUTE);
    pass(MINUTE);
    alerts_stop(alerts);
    alerts_run(alerts);
    alerts_free(alerts);
    sample_count = 0;
    hook.count = 0;
    hook.status = 200;
    open_alerts();
    pass(MINUTE);
    assert_sent(&hook, 0, "\"owner\":\"team-letters\",\"runbook\":\"https://r/o\"");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, end)
    const struct CMUnitTest tests[] = {
        TEST(what_fires_is_told_once_and_resolved),
        TEST(a_rule_is_about_its_subjects_alone),
        TEST(a_receiver_hears_of_what_is_bad_enough),
        TEST(a_receiver_that_cannot_be_reached_loses_nothing),
        TEST(what_a_receiver_refuses_for_good_blocks_nothing),
        TEST(a_restart_tells_nothing_twice_and_forgets_nothing),
        TEST(the_lesser_is_not_told_while_the_greater_fires),
        TEST(of_both_at_once_the_greater_alone_is_told),
        TEST(owner_and_runbook_are_told_and_outlive_a_restart),
        TEST(alertmanager_is_reminded_of_what_fires),
        TEST(a_ticket_goes_to_those_it_names_and_is_never_over),
        TEST(a_ticket_that_names_nobody_goes_to_all_who_hear_of_it),
        TEST(people_see_what_fires_the_worst_first),
        TEST(many_wakes_are_one_until_the_next_sample),
        TEST(a_trial_tells_who_took_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
