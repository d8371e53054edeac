#include "rig_fakes.h"

#include "rig_groups.h"

#include <stdio.h>

__attribute__((format(printf, 2, 3))) static void note(struct rig *rig, const char *format, ...) {
    char word[128];
    va_list args;
    va_start(args, format);
    vsnprintf(word, sizeof word, format, args);
    va_end(args);
    if (rig->log.len)
        buf_char(&rig->log, ' ');
    buf_str(&rig->log, word);
}

/* ---- handlers ---- */

static void start(struct handler *handler, struct call *call) {
    struct rig *rig = CONTAINER_OF(handler, struct rig_handler, handler)->rig;
    assert_true(rig->call_count < RIG_CALLS_MAX);
    struct rig_call *open = &rig->calls[rig->call_count++];
    *open = (struct rig_call){
        .call = call, .attempt = call->attempt, .fallback = call->fallback, .at = rig->now.mono};
    snprintf(open->id, sizeof open->id, "%.*s", BYTES_ARG(call->id));
    note(rig, "start(%s)", open->id);
}

static void cancel(struct handler *handler, struct call *call) {
    struct rig *rig = CONTAINER_OF(handler, struct rig_handler, handler)->rig;
    note(rig, "cancel(%.*s)", BYTES_ARG(call->id));
    for (size_t i = 0; i < rig->call_count; i++)
        if (rig->calls[i].call == call)
            rig->calls[i].cancelled = true;
}

static const struct handler_vtable handler_vtable = {
    .kind = "http",
    .start = start,
    .cancel = cancel,
    .start_group = rig_groups_start,
    .cancel_group = rig_groups_cancel,
};

static const struct handler_vtable inside_vtable = {
    .kind = "callback", .in_process = true, .start = start, .cancel = cancel};

/* ---- the broker ---- */

static struct rig_broker *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct rig_broker, broker);
}

static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    struct broker *inner = self(broker)->inner;
    self(broker)->asked++;
    return inner->vtable->receive(inner, now, out, max);
}

static void settle(struct broker *broker, struct message *held) {
    struct broker *inner = self(broker)->inner;
    note(self(broker)->rig, "settle(%.*s)", BYTES_ARG(held->envelope.id));
    inner->vtable->settle(inner, held);
}

static void hand_back(struct broker *broker, struct message *held, struct instant now) {
    struct broker *inner = self(broker)->inner;
    note(self(broker)->rig, "back(%.*s)", BYTES_ARG(held->envelope.id));
    inner->vtable->hand_back(inner, held, now);
}

static struct mono next_wake(struct broker *broker) {
    struct broker *inner = self(broker)->inner;
    self(broker)->asked++;
    return inner->vtable->next_wake(inner);
}

static uint64_t lag(struct broker *broker) {
    struct broker *inner = self(broker)->inner;
    return inner->vtable->lag(inner);
}

static void want(struct broker *broker, bool wanted) {
    struct broker *inner = self(broker)->inner;
    inner->vtable->want(inner, wanted);
}

static void health(struct broker *broker, struct broker_health *out) {
    struct broker *inner = self(broker)->inner;
    inner->vtable->health(inner, out);
}

static void listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    struct broker *inner = self(broker)->inner;
    inner->vtable->listen(inner, ready, arg);
}

static const struct broker_vtable server_vtable = {.kind = "fake",
                                                   .receive = receive,
                                                   .settle = settle,
                                                   .hand_back = hand_back,
                                                   .next_wake = next_wake,
                                                   .lag = lag,
                                                   .want = want,
                                                   .health = health,
                                                   .listen = listen};

static const struct broker_vtable broker_vtable = {.kind = "builtin",
                                                   .receive = receive,
                                                   .settle = settle,
                                                   .hand_back = hand_back,
                                                   .next_wake = next_wake,
                                                   .lag = lag};

/* ---- the store ---- */

static void note_op(struct rig *rig, const struct store_op *op) {
    switch (op->kind) {
    case STORE_PUT:
        note(rig, "submit:put(%.*s)", BYTES_ARG(op->envelope->id));
        break;
    case STORE_UPDATE:
        note(rig, "submit:update(%.*s)", BYTES_ARG(op->envelope->id));
        break;
    case STORE_FORGET:
        note(rig, "submit:forget(%s)", rig->ids[op->seq]);
        break;
    case STORE_QUEUE:
        note(rig, "submit:facts");
        break;
    case STORE_MARK:
        note(rig, "submit:mark(%s)", rig->ids[op->seq]);
        break;
    case STORE_KEEP:
        note(rig, "submit:keep(%.*s)", BYTES_ARG(op->keep.name));
        break;
    }
}

static void submit(struct store *store, struct store_commit *commit) {
    struct rig *rig = CONTAINER_OF(store->vtable, struct rig, store_vtable);
    for (size_t i = 0; i < commit->count; i++)
        note_op(rig, &commit->ops[i]);
    rig->submit(store, commit);
}

/* ---- jq and the archive ---- */

static void start_job(struct jq *jq, struct jq_job *job) {
    struct rig *rig = CONTAINER_OF(jq, struct rig, jq);
    assert_true(rig->job_count < RIG_JOBS_MAX);
    rig->jobs[rig->job_count++] = job;
}

static const struct jq_vtable jq_vtable = {.start = start_job};

void rig_jq_answer(struct rig *rig, size_t index, enum status status, bool truthy) {
    struct jq_job *job = rig->jobs[index];
    struct err err = {status, "jq: no"};
    assert_non_null(job);
    rig->jobs[index] = NULL;
    job->done(job, status, truthy, truthy ? BYTES("true") : BYTES("false"), &err);
}

void rig_jq_output(struct rig *rig, size_t index, const char *json) {
    struct jq_job *job = rig->jobs[index];
    assert_non_null(job);
    rig->jobs[index] = NULL;
    job->done(job, STATUS_OK, true, bytes_of(json), NULL);
}

static enum status fails(size_t *left, struct err *err) {
    if (*left == 0)
        return STATUS_OK;
    --*left;
    return err_set(err, STATUS_IO, "the archive was told to fail");
}

static enum status append(struct spill *spill, struct bytes archive, struct bytes dlq,
                          struct wall now, struct bytes line, struct err *err) {
    struct rig *rig = CONTAINER_OF(spill, struct rig, spill);
    assert_bytes(archive, "archive");
    assert_bytes(dlq, "q.dlq");
    assert_int_equal(now.ms, rig->now.wall.ms);
    note(rig, "append");
    enum status status = fails(&rig->spill_appends_fail, err);
    if (status == STATUS_OK) {
        buf_bytes(&rig->spilled, line);
        buf_char(&rig->spilled, '\n');
    }
    return status;
}

static enum status sync_spill(struct spill *spill, struct err *err) {
    struct rig *rig = CONTAINER_OF(spill, struct rig, spill);
    note(rig, "sync");
    return fails(&rig->spill_syncs_fail, err);
}

static const struct spill_vtable spill_vtable = {.append = append, .sync = sync_spill};

void rig_fakes_init(struct rig *rig) {
    for (size_t i = 0; i < RIG_HANDLERS; i++) {
        rig->handlers[i] =
            (struct rig_handler){{rig->options.in_process ? &inside_vtable : &handler_vtable}, rig};
        rig->handler_list[i].handler = &rig->handlers[i].handler;
        rig->handler_list[i].batch = rig->options.batch;
    }
    for (size_t i = 0; i < rig->options.queues; i++)
        rig->brokers[i] = (struct rig_broker){
            .broker = {rig->options.server ? &server_vtable : &broker_vtable}, .rig = rig};
    rig->submit = rig->store->vtable->submit;
    rig->store_vtable = *rig->store->vtable;
    rig->store_vtable.submit = submit;
    rig->store->vtable = &rig->store_vtable;
    rig->letters_vtable = *rig->store->letters->vtable;
    rig->store->letters->vtable = &rig->letters_vtable;
    rig->jq.vtable = &jq_vtable;
    rig->spill.vtable = &spill_vtable;
}
