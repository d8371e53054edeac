/* One thread owns the connection. It sleeps on the socket and on a wakeup that the engine rings
 * when a message was settled or `wanted` has changed; they share the struct inflight.
 *
 *            ┌──────────────── trouble ────────────────┐
 *            ▼                                         │
 *   not connected ──▶ connected ──▶ consuming ──▶ not wanted: cancelled, what was fetched goes back
 *                         ▲                            │
 *                         └────────── wanted ──────────┘ */
#include "broker/rabbitmq/rabbit_source.h"

#include <assert.h>
#include <poll.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/common/ahead.h"
#include "broker/rabbitmq/rabbit_connection.h"
#include "broker/rabbitmq/rabbit_limit.h"
#include "broker/rabbitmq/rabbit_message.h"
#include "broker/rabbitmq/rabbit_table.h"
#include "broker/common/returns.h"
#include "broker/common/source_thread.h"

enum {
    RABBIT_ASK_MS = 1000, /* between questions for the number of messages that wait */
    RABBIT_FIT_LEAST = 4, /* while messages are in flight, no consumer is started for fewer */
    RABBIT_READ_MAX = 64, /* deliveries read before acknowledgements are sent */
    RABBIT_AGAIN_MS = 10 * 60 * 1000, /* a redelivery comes within this time, or not at all */
};

static const char consumer_tag[] = "impound";

struct rabbit_source {
    struct source_thread thread;
    struct rabbit_url url;
    struct rabbit_origin origin;
    struct rng rng;
    struct inflight inflight;
    struct ahead ahead;
    struct returns returns; /* deliveries that a lost connection caused do not count */

    /* The thread's own. */
    struct rabbit_connection connection;
    struct rabbit_limit limit; /* of its queue */
    bool consuming;
    size_t prefetch; /* … with this prefetch, as far as there is memory */
    bool news;       /* a delivery came that the engine was not notified of */
    struct mono consuming_since;
    struct mono ask_at;
};

static struct rabbit_source *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct rabbit_source, thread.broker);
}

/* ---- asking ---- */

/* Also finds out that the queue is missing, and that earlier acknowledgements have arrived: a
 * channel handles one method after the other. (A busy quorum queue may leave some in the channel,
 * where they are lost with it: those messages are redelivered.) */
static bool ask_queue(struct rabbit_source *rabbit, struct mono now, struct err *err) {
    uint32_t waiting;
    if (!rabbit_connection_ask_queue(&rabbit->connection, rabbit->url.queue, &waiting, err))
        return false;
    atomic_store(&rabbit->thread.waiting, waiting);
    rabbit->ask_at = mono_after(now, RABBIT_ASK_MS);
    inflight_acknowledged(&rabbit->inflight);
    if (rabbit->consuming && now.ms - rabbit->consuming_since.ms >= RABBIT_AGAIN_MS)
        inflight_forget_lost(&rabbit->inflight);
    return true;
}

static bool open_source(struct rabbit_source *rabbit, struct mono now, struct err *err) {
    struct rabbit_connection *connection = &rabbit->connection;
    if (!rabbit_connection_open(connection, &rabbit->url, err))
        return false;
    return ask_queue(rabbit, now, err) &&
           rabbit_limit_ask(connection, rabbit->url.queue, &rabbit->limit, err) &&
           rabbit_limit_no_stream(&rabbit->limit, rabbit->url.queue, err);
}

/* ---- consuming ---- */

/* A prefetch holds for consumers that begin after it was set. */
static bool start_consuming(struct rabbit_source *rabbit, size_t prefetch, struct err *err) {
    amqp_basic_qos(rabbit->connection.state, RABBIT_CHANNEL, 0, (uint16_t)prefetch, 0);
    if (!rabbit_connection_asked(&rabbit->connection, amqp_get_rpc_reply(rabbit->connection.state),
                                 "set the prefetch", err))
        return false;
    rabbit->prefetch = prefetch;
    amqp_basic_consume(rabbit->connection.state, RABBIT_CHANNEL, rabbit_bytes(rabbit->url.queue),
                       amqp_cstring_bytes(consumer_tag), 0, 0, 0, amqp_empty_table);
    rabbit->consuming = true;
    rabbit->consuming_since = clock_now(rabbit->thread.clock).mono;
    return rabbit_connection_asked(&rabbit->connection,
                                   amqp_get_rpc_reply(rabbit->connection.state), "consume", err);
}

static bool stop_consuming(struct rabbit_source *rabbit, struct err *err) {
    amqp_basic_cancel(rabbit->connection.state, RABBIT_CHANNEL, amqp_cstring_bytes(consumer_tag));
    rabbit->consuming = false;
    return rabbit_connection_asked(
        &rabbit->connection, amqp_get_rpc_reply(rabbit->connection.state), "stop consuming", err);
}

static bool is_wanted(const struct rabbit_source *rabbit) {
    return atomic_load(&rabbit->thread.wanted) && !atomic_load(&rabbit->thread.closing);
}

/* Without memory for more the consumer is cancelled, and the messages in flight stay; a consumer
 * with a larger prefetch is started when there is memory for twice as many. */
static bool follow_wish(struct rabbit_source *rabbit, struct err *err) {
    size_t ready = inflight_ready(&rabbit->inflight), most = rabbit->url.prefetch;
    size_t fit = is_wanted(rabbit) ? ahead_count(&rabbit->ahead, 0, ready, most) : 0;
    bool grows = rabbit->prefetch < most && fit >= 2 * rabbit->prefetch;
    bool enough = fit >= RABBIT_FIT_LEAST || fit == most || ready == 0;
    if (rabbit->consuming && (fit == 0 || grows) && !stop_consuming(rabbit, err))
        return false;
    return rabbit->consuming || fit == 0 || !enough || start_consuming(rabbit, fit, err);
}

/* Deliveries that were on their way when the consumer was cancelled are returned here too. */
static bool return_unwanted(struct rabbit_source *rabbit, struct err *err) {
    int status = AMQP_STATUS_OK;
    for (struct delivery *delivery; !rabbit->consuming && !is_wanted(rabbit) &&
                                    status == AMQP_STATUS_OK &&
                                    (delivery = inflight_return(&rabbit->inflight, false));) {
        status = amqp_basic_nack(rabbit->connection.state, RABBIT_CHANNEL, delivery->tag, 0, 1);
        delivery_free(delivery);
    }
    return rabbit_connection_sent(&rabbit->connection, status, "give back", err);
}

/* One frame acknowledges as many as possible: a busy quorum queue has room for few frames, and the
 * others wait in the channel. */
static bool send_settled(struct rabbit_source *rabbit, struct err *err) {
    amqp_connection_state_t state = rabbit->connection.state;
    uint64_t up_to = inflight_send_up_to(&rabbit->inflight);
    int status = up_to ? amqp_basic_ack(state, RABBIT_CHANNEL, up_to, 1) : AMQP_STATUS_OK;
    for (struct delivery_ack word;
         status == AMQP_STATUS_OK && inflight_send(&rabbit->inflight, &word);)
        status = amqp_basic_ack(state, RABBIT_CHANNEL, word.tag, 0);
    return rabbit_connection_sent(&rabbit->connection, status, "acknowledge", err);
}

/* ---- reading ---- */

static void take_delivery(struct rabbit_source *rabbit, amqp_envelope_t *incoming) {
    if (atomic_load(&rabbit->thread.waiting) > 0)
        atomic_fetch_sub(&rabbit->thread.waiting, 1);
    struct wall now = clock_now(rabbit->thread.clock).wall;
    struct delivery *delivery = rabbit_message_read(incoming, &rabbit->origin, now);
    bool again = incoming->redelivered;
    returns_deduct(&rabbit->returns, delivery->held);
    ahead_note(&rabbit->ahead, delivery->held);
    amqp_destroy_envelope(incoming);
    if (inflight_put(&rabbit->inflight, delivery, again, false))
        rabbit->news = true;
}

/* A user who may not declare queues cannot ask for the type; but deliveries of a stream have an
 * offset. */
static bool is_of_stream(const struct rabbit_source *rabbit, const amqp_envelope_t *incoming) {
    const amqp_basic_properties_t *properties = &incoming->message.properties;
    return rabbit->limit.type == RABBIT_TYPE_UNKNOWN &&
           (properties->_flags & AMQP_BASIC_HEADERS_FLAG) != 0 &&
           rabbit_table_find(&properties->headers, "x-stream-offset") != NULL;
}

static enum rabbit_reading read_one(struct rabbit_source *rabbit, struct err *err) {
    amqp_envelope_t incoming;
    enum rabbit_reading reading = rabbit_connection_read(&rabbit->connection, 0, &incoming, err);
    if (reading != RABBIT_READ_ONE)
        return reading;
    if (is_of_stream(rabbit, &incoming)) {
        struct rabbit_limit stream = {.type = RABBIT_TYPE_STREAM};
        amqp_destroy_envelope(&incoming);
        rabbit_limit_no_stream(&stream, rabbit->url.queue, err);
        return RABBIT_READ_TROUBLE;
    }
    take_delivery(rabbit, &incoming);
    return reading;
}

/* ---- the thread ---- */

static void sleep_until(struct rabbit_source *rabbit, struct mono until) {
    int fd = rabbit->connection.state ? amqp_get_sockfd(rabbit->connection.state) : -1;
    wakeup_wait(&rabbit->thread.wakeup, fd, until.ms - clock_now(rabbit->thread.clock).mono.ms);
}

/* A quorum queue counts a delivery for every message that an ended connection had. */
static void note_lost(const struct delivery *delivery, void *arg) {
    if (delivery->keep && !delivery->stale)
        returns_note_lost(arg, delivery->id);
}

static void give_up_connection(struct rabbit_source *rabbit, const struct err *err) {
    inflight_each_open(&rabbit->inflight, note_lost, &rabbit->returns);
    returns_next_connection(&rabbit->returns);
    rabbit_connection_close(&rabbit->connection, false);
    rabbit->consuming = false;
    atomic_fetch_add(&rabbit->thread.waiting, inflight_forget_tags(&rabbit->inflight));
    connection_state_lost(&rabbit->thread.state, clock_now(rabbit->thread.clock).mono, err);
}

static void connect_again(struct rabbit_source *rabbit, struct mono now) {
    struct err err;
    if (now.ms < rabbit->thread.state.next_try.ms)
        sleep_until(rabbit, rabbit->thread.state.next_try);
    else if (open_source(rabbit, now, &err))
        connection_state_made(&rabbit->thread.state, now);
    else
        give_up_connection(rabbit, &err);
}

/* One round: start or cancel the consumer, acknowledge, read, give back. */
static void work(struct rabbit_source *rabbit, struct mono now) {
    struct err err;
    enum rabbit_reading reading = RABBIT_READ_ONE;
    bool well = follow_wish(rabbit, &err) && send_settled(rabbit, &err);
    if (well && now.ms >= rabbit->ask_at.ms)
        well = ask_queue(rabbit, now, &err);
    for (size_t i = 0; well && reading != RABBIT_READ_NOTHING && i < RABBIT_READ_MAX; i++) {
        reading = read_one(rabbit, &err);
        well = reading != RABBIT_READ_TROUBLE;
    }
    well = well && return_unwanted(rabbit, &err);
    if (rabbit->news)
        connection_state_notify(&rabbit->thread.state);
    rabbit->news = false;
    if (!well)
        give_up_connection(rabbit, &err);
    else if (reading == RABBIT_READ_NOTHING)
        sleep_until(rabbit, rabbit->ask_at);
}

static void close_source(struct broker *broker) {
    struct rabbit_source *rabbit = self(broker);
    struct err err;
    if (!rabbit->connection.state)
        return;
    bool well = send_settled(rabbit, &err) && ask_queue(rabbit, (struct mono){0}, &err);
    rabbit_connection_close(&rabbit->connection, well);
}

static void turn(struct broker *broker) {
    struct rabbit_source *rabbit = self(broker);
    struct mono now = clock_now(rabbit->thread.clock).mono;
    if (rabbit->connection.state)
        work(rabbit, now);
    else
        connect_again(rabbit, now);
}

static const struct source_thread_work thread_work = {"rabbit-source", turn, close_source};

/* ---- the outside ---- */

static void rabbit_free(struct broker *broker) {
    source_thread_free(&self(broker)->thread);
    returns_free(&self(broker)->returns);
    free(self(broker));
}

static const struct broker_vtable vtable = {
    .kind = "rabbitmq",
    .receive = source_thread_receive,
    SOURCE_THREAD_INFLIGHT,
    SOURCE_THREAD_VTABLE,
    .free = rabbit_free,
};

enum status rabbit_source_check(struct bytes url, struct err *err) {
    struct rabbit_url parsed;
    return rabbit_url_source(url, NULL, &parsed, err);
}

struct broker *rabbit_source_new(const struct broker_options *options) {
    struct rabbit_source *rabbit = memory_new(sizeof *rabbit);
    source_thread_init(&rabbit->thread, &vtable, &thread_work, &rabbit->inflight, options);
    returns_init(&rabbit->returns);
    ahead_init(&rabbit->ahead, options);
    enum status status = rabbit_url_source(options->url, &rabbit->thread.arena, &rabbit->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rng_seed(&rabbit->rng, options->seed);
    rabbit->origin = (struct rabbit_origin){.vhost = rabbit->url.vhost,
                                            .queue = rabbit->url.queue,
                                            .id_path = rabbit->url.id_path,
                                            .rng = &rabbit->rng};
    rabbit->connection.closing = &rabbit->thread.closing;
    return &rabbit->thread.broker;
}
