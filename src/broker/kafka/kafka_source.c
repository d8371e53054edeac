#include "broker/kafka/kafka_source.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread/thread.h"
#include "broker/kafka/consume/kafka_group.h"

struct kafka_source {
    struct broker broker;
    struct clock *clock;
    struct arena arena; /* the texts of url and group */
    struct kafka_url url;
    struct connection_state state;
    struct kafka_inflight inflight;
    struct mailbox wakeup; /* wakes the thread; no mail comes */
    struct kafka_group group;
    atomic_bool closing;
    bool started;
    pthread_t thread;
};

static struct kafka_source *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct kafka_source, broker);
}

static void *run(void *arg) {
    struct kafka_source *source = arg;
    while (!atomic_load(&source->closing))
        mailbox_wait(&source->wakeup, kafka_group_turn(&source->group, source->clock));
    kafka_group_close(&source->group, source->clock);
    return NULL;
}

static size_t source_receive(struct broker *broker, struct instant now, struct message **out,
                             size_t max) {
    struct kafka_source *source = self(broker);
    size_t count;
    if (kafka_inflight_receive(&source->inflight, now.mono, out, max, &count))
        mailbox_ring(&source->wakeup);
    return count;
}

static void source_settle(struct broker *broker, struct message *held) {
    struct kafka_source *source = self(broker);
    if (kafka_inflight_settle(&source->inflight, held))
        mailbox_ring(&source->wakeup);
}

static void source_hand_back(struct broker *broker, struct message *held_take, struct instant due) {
    kafka_inflight_hand_back(&self(broker)->inflight, held_take, due.mono);
}

static struct mono source_next_wake(struct broker *broker) {
    return kafka_inflight_next_wake(&self(broker)->inflight);
}

static uint64_t source_lag(struct broker *broker) {
    return kafka_inflight_lag(&self(broker)->inflight);
}

static bool source_drained(struct broker *broker) {
    return kafka_inflight_drained(&self(broker)->inflight);
}

/* Messages that were read ahead stay in flight: the group keeps the partition for us in any case.
 */
static void source_want(struct broker *broker, bool wanted) {
    struct kafka_source *source = self(broker);
    if (kafka_inflight_want(&source->inflight, wanted))
        mailbox_ring(&source->wakeup);
}

static void source_health(struct broker *broker, struct broker_health *out) {
    connection_state_health(&self(broker)->state, out);
}

static void source_listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    struct kafka_source *source = self(broker);
    connection_state_listen(&source->state, ready, arg);
    assert(!source->started);
    source->started = true;
    thread_start(&source->thread, "kafka-source", run, source);
}

static void source_free(struct broker *broker) {
    struct kafka_source *source = self(broker);
    atomic_store(&source->closing, true);
    mailbox_ring(&source->wakeup);
    if (source->started)
        pthread_join(source->thread, NULL);
    kafka_inflight_free(&source->inflight);
    pool_close(source->group.pool);
    connection_state_free(&source->state);
    mailbox_free(&source->wakeup);
    arena_free(&source->arena);
    free(source);
}

static const struct broker_vtable vtable = {
    .kind = "kafka",
    .receive = source_receive,
    .settle = source_settle,
    .hand_back = source_hand_back,
    .next_wake = source_next_wake,
    .lag = source_lag,
    .drained = source_drained,
    .want = source_want,
    .health = source_health,
    .listen = source_listen,
    .free = source_free,
};

enum status kafka_source_check(struct bytes url, struct err *err) {
    struct kafka_url parsed;
    return kafka_url_source(url, NULL, &parsed, err);
}

/* Two queues of one store may be members of one group. A member that returns gets the partitions
 * that it had: for another topic it must be another member. */
static const char *member_name(const struct broker_options *options, struct bytes topic,
                               struct arena *arena) {
    struct buf name;
    buf_init_heap(&name, URL_TEXT_MAX);
    buf_printf(&name, "%.*s-%.*s-%08x", BYTES_ARG(options->instance), BYTES_ARG(options->queue),
               (unsigned)bytes_hash(topic));
    const char *text = arena_cstr(arena, buf_view(&name));
    buf_free(&name);
    return text;
}

struct broker *kafka_source_new(const struct broker_options *options) {
    struct kafka_source *source = memory_new(sizeof *source);
    source->broker.vtable = &vtable;
    source->clock = options->clock;
    arena_init_heap(&source->arena, URL_TEXT_MAX);
    enum status status = kafka_url_source(options->url, &source->arena, &source->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    connection_state_init_source(&source->state, "kafka", options);
    kafka_inflight_init(&source->inflight);
    mailbox_init(&source->wakeup);
    source->group =
        (struct kafka_group){.url = &source->url,
                             .member = member_name(options, source->url.topic, &source->arena),
                             .inflight = &source->inflight,
                             .state = &source->state,
                             .wakeup = &source->wakeup,
                             .memory = options->memory,
                             .pool = pool_new()};
    source->group.follow = (struct kafka_follow){.url = &source->url, .pool = source->group.pool};
    return &source->broker;
}
