/* replay_plan: the plan of a replay (dry run) as JSON, with counts, samples and an estimate.
 * Changes nothing. Also validates orders. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

#include "base/json/json_member.h"
#include "triage/query/diff.h"
#include "triage/replay/replay_state.h"
#include "triage/query/counter.h"

enum {
    SAMPLES_MAX = 3,
    PLAN_ARENA_CHUNK = 64 * 1024,
    FINGERPRINT_SIZE = 17,
    BODY_SHOWN_MAX = 4096
};

struct plan {
    struct replays *replays;
    const struct replay_order *order;
    struct arena *arena;
    struct counter groups, destinations;
    uint64_t selected, stale, over_replayed, to_check;
    struct bytes samples[SAMPLES_MAX]; /* letter ids */
    struct bytes sample_queues[SAMPLES_MAX];
    size_t sample_count;
    enum status status;
    struct err *err;
};

/* ---- the letters ---- */

static void count_limits(struct plan *plan, const struct envelope *envelope) {
    const struct replay_around *around = &plan->replays->around;
    struct wall now = triage_now(plan->replays->triage).wall;
    struct replay_dlq dlq = {.max_replays = UINT32_MAX};
    around->dlq(around->arg, envelope->dlq, &dlq);
    if (envelope->replays >= dlq.max_replays)
        plan->over_replayed++;
    else if (!plan->order->send_stale && dlq.fresh_ms > 0 &&
             now.ms - envelope->created_at.ms > dlq.fresh_ms)
        plan->stale++;
    else if (!plan->order->send_stale && dlq.check)
        plan->to_check++; /* a plan makes no calls: the letter is checked when it is sent */
}

static bool visit(void *arg, const struct selection_letter *letter) {
    struct plan *plan = arg;
    const struct envelope *envelope = letter->envelope;
    char group[FINGERPRINT_SIZE], origin[REPLAY_ORIGIN_SIZE];
    bool to_origin = replay_order_to_origin(plan->order);
    plan->status = replay_check_free(plan->replays, envelope, plan->err);
    if (plan->status == STATUS_OK)
        plan->status = replay_check_way(plan->replays, plan->order, envelope, origin, plan->err);
    if (plan->status != STATUS_OK)
        return false;
    snprintf(group, sizeof group, "%016llx", (unsigned long long)envelope->fingerprint);
    counter_count(&plan->groups, bytes_of(group), envelope->error_message, plan->arena);
    counter_count(&plan->destinations,
                  to_origin ? bytes_of(origin) : replay_order_queue(plan->order, envelope->queue),
                  BYTES_NONE, plan->arena);
    count_limits(plan, envelope);
    if (plan->sample_count < SAMPLES_MAX) {
        plan->samples[plan->sample_count] = arena_dup(plan->arena, envelope->letter_id);
        plan->sample_queues[plan->sample_count++] = arena_dup(plan->arena, envelope->queue);
    }
    plan->selected++;
    return true;
}

/* ---- samples ---- */

struct plan_trial {
    struct jq_job job;
    sem_t ended;
    struct arena *arena;
    enum status status;
    struct bytes output;
    struct err err;
};

static void on_edited(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                      const struct err *err) {
    struct plan_trial *trial = job->arg;
    (void)truthy;
    trial->status = status;
    if (status == STATUS_OK && output.len > 0)
        trial->output = arena_dup(trial->arena, output);
    else if (err)
        trial->err = *err;
    sem_post(&trial->ended);
}

static void try_edit(struct jq *jq, struct bytes program, struct bytes body,
                     struct plan_trial *trial) {
    assert(jq && program.len > 0);
    sem_init(&trial->ended, 0, 0);
    trial->job =
        (struct jq_job){.program = program, .input = body, .done = on_edited, .arg = trial};
    jq->vtable->start(jq, &trial->job);
    while (sem_wait(&trial->ended) != 0) {
    }
    sem_destroy(&trial->ended);
    if (trial->status == STATUS_OK && body.ptr && trial->output.len == 0)
        trial->status = err_set(&trial->err, STATUS_INVALID, "the program gave nothing");
}

static void put_body(struct json_out *json, const char *key, struct bytes body) {
    struct json parsed;
    json_key(json, key);
    if (body.len <= BODY_SHOWN_MAX && json_parse(body, &parsed, NULL) == STATUS_OK)
        json_put_raw(json, parsed.text);
    else
        json_put(json, bytes_clip(body, BODY_SHOWN_MAX));
}

static void put_edited(struct plan *plan, struct json_out *json, struct bytes body) {
    struct plan_trial trial = {.arena = plan->arena};
    struct json before, after;
    if (json_parse(body, &before, NULL) != STATUS_OK) {
        json_key(json, "problem");
        json_put_str(json, "its body is not JSON");
        return;
    }
    try_edit(plan->replays->triage->jq, plan->order->edit, body, &trial);
    if (trial.status != STATUS_OK || json_parse(trial.output, &after, NULL) != STATUS_OK) {
        json_key(json, "problem");
        json_put_str(json, trial.err.text);
        return;
    }
    put_body(json, "after", trial.output);
    json_key(json, "diff");
    diff_put(before, after, json);
}

static void put_sample(struct plan *plan, struct json_out *json, size_t place) {
    struct store *store = plan->replays->triage->store;
    struct message *held = NULL;
    struct err err;
    if (letters_get(store->letters, plan->sample_queues[place], plan->samples[place], &held,
                    &err) != STATUS_OK)
        return;
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, held->envelope.letter_id);
    json_key(json, "message_id");
    json_put(json, held->envelope.id);
    json_key(json, "queue");
    json_put(json, held->envelope.queue);
    put_body(json, "before", held->body);
    if (plan->order->edit.len > 0)
        put_edited(plan, json, replay_editable(held));
    json_close(json, '}');
    message_free(held);
}

/* ---- the plan ---- */

static void put_tally(struct json_out *json, const char *key, const char *name, const char *sample,
                      struct counter *counter) {
    counter_sort(counter);
    json_key(json, key);
    json_open(json, '[');
    for (size_t i = 0; i < counter->row_count; i++) {
        json_open(json, '{');
        json_key(json, name);
        json_put(json, counter->rows[i]->name);
        json_key(json, "count");
        json_put_i64(json, (int64_t)counter->rows[i]->count);
        if (sample) {
            json_key(json, sample);
            json_put(json, counter->rows[i]->sample);
        }
        json_close(json, '}');
    }
    json_close(json, ']');
}

static double estimate(const struct plan *plan, uint64_t count) {
    const struct replay_around *around = &plan->replays->around;
    const struct replay_rate *rate = &plan->order->rate;
    struct replay_queue queue = {.usual_per_second = 0};
    double target = rate->kind == REPLAY_RATE_FIXED ? rate->value : 0;
    if (rate->kind == REPLAY_RATE_SHARE && plan->destinations.row_count > 0) {
        around->queue(around->arg, plan->destinations.rows[0]->name, &queue);
        target = queue.usual_per_second * rate->value / 100;
        target = target < 1 ? 1 : target;
    }
    return send_rate_estimate(target, plan->order->ramp, count);
}

static void put_plan(struct plan *plan, const struct selection_result *walked, struct buf *out) {
    assert(plan->stale + plan->over_replayed <= plan->selected);
    struct json_out json = json_out(out);
    uint64_t count = plan->selected - plan->stale - plan->over_replayed;
    json_open(&json, '{');
    json_key(&json, "dry_run");
    json_put_bool(&json, true);
    const struct {
        const char *key;
        uint64_t number;
    } numbers[] = {{"selected", plan->selected},     {"count", count},
                   {"stale", plan->stale},           {"over_replayed", plan->over_replayed},
                   {"to_check", plan->to_check},     {"behind", walked->behind},
                   {"read_only", walked->read_only}, {"skipped", walked->skipped},
                   {"damaged", walked->damaged}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        json_key(&json, numbers[i].key);
        json_put_i64(&json, (int64_t)numbers[i].number);
    }
    if (plan->order->selection.id_count == 0)
        json_member_time(&json, "until", walked->until);
    put_tally(&json, "groups", "fingerprint", "sample", &plan->groups);
    put_tally(&json, "destinations", replay_order_to_origin(plan->order) ? "origin" : "queue", NULL,
              &plan->destinations);
    json_key(&json, "samples");
    json_open(&json, '[');
    for (size_t i = 0; i < plan->sample_count; i++)
        put_sample(plan, &json, i);
    json_close(&json, ']');
    json_key(&json, "estimated_seconds");
    json_put_double(&json, estimate(plan, count));
    json_key(&json, "order");
    json_open(&json, '{');
    replay_doc_put_order(&json, plan->order);
    json_close(&json, '}');
    json_close(&json, '}');
}

bool replays_know(struct replays *replays, struct bytes queue) {
    struct replay_queue is;
    return replays->around.queue(replays->around.arg, queue, &is);
}

enum status replay_plan_check(struct replays *replays, const struct replay_order *order,
                              struct err *err) {
    struct plan_trial trial = {.status = STATUS_OK};
    struct version_rule version;
    if (order->to.len > 0 && !replay_order_to_origin(order) && !replays_know(replays, order->to))
        return err_set(err, STATUS_NOT_FOUND, "to: there is no queue \"%.*s\"",
                       BYTES_ARG(bytes_clip(order->to, 255)));
    if (order->when_version.len > 0 && !version_rule_parse(order->when_version, &version))
        return err_set(
            err, STATUS_INVALID,
            "when_version: \"%.*s\" must be such as \">= 1.4\", \"> 1.4\" or \"= 1.4.2\"",
            BYTES_ARG(bytes_clip(order->when_version, VERSION_TEXT_MAX)));
    if (order->edit.len == 0)
        return STATUS_OK;
    try_edit(replays->triage->jq, order->edit, BYTES_NONE, &trial);
    return trial.status == STATUS_OK ? STATUS_OK
                                     : err_set(err, STATUS_INVALID, "edit: %s", trial.err.text);
}

enum status replays_plan(struct replays *replays, const struct replay_order *order, struct buf *out,
                         struct err *err) {
    struct arena arena;
    struct selection_result walked;
    arena_init_heap(&arena, PLAN_ARENA_CHUNK);
    struct plan *plan = arena_alloc(&arena, sizeof *plan);
    *plan = (struct plan){.replays = replays, .order = order, .arena = &arena, .err = err};
    enum status status = replay_plan_check(replays, order, err);
    if (status == STATUS_OK)
        status =
            selection_walk(replays->triage, &order->selection, visit, plan, &arena, &walked, err);
    if (status == STATUS_OK)
        status = plan->status;
    if (status == STATUS_OK)
        put_plan(plan, &walked, out);
    counter_free(&plan->groups);
    counter_free(&plan->destinations);
    arena_free(&arena);
    return status;
}
