#include "broker/common/source_thread.h"

#include "base/thread/thread.h"
#include "broker/common/url.h"

static struct source_thread *thread_of(struct broker *broker) {
    return CONTAINER_OF(broker, struct source_thread, broker);
}

void source_thread_init(struct source_thread *self, const struct broker_vtable *vtable,
                        const struct source_thread_work *work, struct inflight *inflight,
                        const struct broker_options *options) {
    *self = (struct source_thread){.broker.vtable = vtable,
                                   .work = work,
                                   .clock = options->clock,
                                   .inflight = inflight,
                                   .wanted = true};
    arena_init_heap(&self->arena, URL_TEXT_MAX);
    if (inflight)
        inflight_init(inflight);
    connection_state_init_source(&self->state, vtable->kind, options);
    wakeup_init(&self->wakeup);
}

void source_thread_free(struct source_thread *self) {
    atomic_store(&self->closing, true);
    wakeup_ring(&self->wakeup);
    if (self->started)
        pthread_join(self->thread, NULL);
    if (self->inflight)
        inflight_free(self->inflight);
    connection_state_free(&self->state);
    wakeup_free(&self->wakeup);
    arena_free(&self->arena);
}

/* ---- the thread ---- */

static void *run(void *arg) {
    struct source_thread *self = arg;
    while (!atomic_load(&self->closing))
        self->work->turn(&self->broker);
    self->work->end(&self->broker);
    return NULL;
}

void source_thread_listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    struct source_thread *self = thread_of(broker);
    connection_state_listen(&self->state, ready, arg);
    self->started = true;
    thread_start(&self->thread, self->work->name, run, self);
}

/* ---- the engine's side ---- */

void source_thread_want(struct broker *broker, bool wanted) {
    atomic_store(&thread_of(broker)->wanted, wanted);
    wakeup_ring(&thread_of(broker)->wakeup);
}

void source_thread_health(struct broker *broker, struct broker_health *out) {
    connection_state_health(&thread_of(broker)->state, out);
}

size_t source_thread_receive(struct broker *broker, struct instant now, struct message **out,
                             size_t max) {
    return inflight_receive(thread_of(broker)->inflight, now.mono, out, max);
}

void source_thread_settle(struct broker *broker, struct message *held) {
    inflight_settle(thread_of(broker)->inflight, held);
    wakeup_ring(&thread_of(broker)->wakeup);
}

void source_thread_hand_back(struct broker *broker, struct message *held_take, struct instant due) {
    inflight_hand_back(thread_of(broker)->inflight, held_take, due.mono);
}

struct mono source_thread_next_wake(struct broker *broker) {
    return inflight_next_wake(thread_of(broker)->inflight);
}

uint64_t source_thread_lag(struct broker *broker) {
    return atomic_load(&thread_of(broker)->waiting) + inflight_ready(thread_of(broker)->inflight);
}
