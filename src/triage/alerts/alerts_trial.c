/* alerts_trial: `impound alerts test`. Sends one test notice to each receiver, without the outbox,
 * and reports the results. The last call to end writes the answer, on its own thread. */
#include <assert.h>
#include <stdlib.h>

#include "base/json/json.h"
#include "base/memory.h"
#include "triage/alerts/alerts_state.h"

enum { PROBLEM_MAX = 512 };

struct round;

struct try {
    struct round *round;
    const struct alert_receiver *receiver;
    struct call call;
    struct buf body;
    bool ok;
    char problem[PROBLEM_MAX];
};

struct round {
    struct alerts_trial *trial;
    atomic_size_t left;
    size_t count;
    struct try tries[];
};

static void answer(struct round *round) {
    struct json_out json = json_out(round->trial->out);
    json_open(&json, '{');
    json_key(&json, "results");
    json_open(&json, '[');
    for (size_t i = 0; i < round->count; i++) {
        const struct try *try = &round->tries[i];
        json_open(&json, '{');
        json_key(&json, "to");
        json_put(&json, try->receiver->name);
        json_key(&json, "ok");
        json_put_bool(&json, try->ok);
        if (!try->ok) {
            json_key(&json, "problem");
            json_put_str(&json, try->problem);
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

static void finish_one(struct round *round) {
    assert(round->left > 0);
    if (atomic_fetch_sub(&round->left, 1) != 1)
        return;
    struct alerts_trial *trial = round->trial;
    trial->tried = round->count;
    answer(round);
    for (size_t i = 0; i < round->count; i++)
        buf_free(&round->tries[i].body);
    free(round);
    trial->done(trial);
}

static void on_done(struct call *call, const struct outcome *outcome) {
    struct try *try = CONTAINER_OF(call, struct try, call);
    struct buf problem;
    try->ok = outcome->ending == ENDING_OK;
    buf_init_fixed(&problem, try->problem, sizeof try->problem);
    if (outcome->status)
        buf_printf(&problem, "HTTP %d: ", outcome->status);
    buf_bytes(&problem,
              bytes_clip(outcome->error_message.len ? outcome->error_message : outcome->error_type,
                         PROBLEM_MAX / 2));
    buf_cstr(&problem);
    finish_one(try->round);
}

static void start(struct try *try, struct wall now) {
    assert(try->receiver->handler);
    static const struct alert_rule rule = {.name = {"Test", 4},
                                           .metric = METRIC_DLQ_DEPTH,
                                           .subject = {"*", 1},
                                           .severity = ALERT_INFO};
    struct alert_notice notice = {.rule = &rule,
                                  .subject = BYTES("test.dlq"),
                                  .value = 1,
                                  .words = BYTES("this is a test notice"),
                                  .step = ALERT_FIRE,
                                  .since = now,
                                  .at = now};
    buf_init_heap(&try->body, ALERT_NOTICE_MAX);
    alert_notice_put(&notice, try->receiver, &try->body);
    try->call = (struct call){.queue = BYTES("alerts"),
                              .id = rule.name,
                              .body = buf_view(&try->body),
                              .content_type = BYTES("application/json"),
                              .attempt = 1,
                              .first_attempt_at = now,
                              .done = on_done};
    try->receiver->handler->vtable->start(try->receiver->handler, &try->call);
}

void alerts_try(struct alerts *alerts, struct alerts_trial *trial) {
    const struct alerts_options *options = &alerts->options;
    struct round *round =
        memory_new(sizeof *round + options->receiver_count * sizeof round->tries[0]);
    round->trial = trial;
    for (size_t i = 0; i < options->receiver_count; i++)
        if (trial->to.len == 0 || bytes_eq(options->receivers[i].name, trial->to))
            round->tries[round->count++] =
                (struct try){.round = round, .receiver = &options->receivers[i]};
    round->left = round->count +
                  1; /* one for this function, so that an early answer does not end the round */
    struct wall now = clock_now(options->clock).wall;
    for (size_t i = 0; i < round->count; i++)
        start(&round->tries[i], now);
    finish_one(round);
}
