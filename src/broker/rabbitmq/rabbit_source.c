/* One thread owns the connection. It sleeps on the socket and on a bell that the engine rings when
 * something was settled or what is wanted has changed; the shelf stands between the two.
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
#include "broker/common/station.h"

enum {
    RABBIT_ASK_MS = 1000,             /* between questions for the number of messages that wait */
    RABBIT_FIT_LEAST = 4,             /* with messages at hand, it is not consumed for fewer */
    RABBIT_READ_MAX = 64,             /* deliveries read before what was settled is sent */
    RABBIT_AGAIN_MS = 10 * 60 * 1000, /* what was given before comes within this, or not at all */
};

static const char consumer_tag[] = "impound";

struct rabbit_source {
    struct station station;
    struct rabbit_url url;
    struct rabbit_place place;
    struct rng rng;
    struct shelf shelf;
    struct ahead ahead;
    struct returns returns; /* lost with a connection: those deliveries are not held against it */

    /* The thread's own. */
    struct rabbit_connection connection;
    struct rabbit_limit limit; /* of its queue */
    bool consuming;
    size_t prefetch; /* … so many at a time, as far as there is memory for them */
    bool news;       /* something came that the engine was not told of */
    struct mono consuming_since;
    struct mono ask_at;
};

static struct rabbit_source *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct rabbit_source, station.broker);
}

/* ---- asking ---- */

/* Also says that a queue is missing, and that all that was acknowledged before has arrived: a
 * channel does one thing after the other. (A busy quorum queue may leave some in the channel, where
 * they are lost with it: those come again.) */
static bool ask_queue(struct rabbit_source *rabbit, struct mono now, struct err *err) {
    uint32_t waiting;
    if (!rabbit_connection_ask_queue(&rabbit->connection, rabbit->url.queue, &waiting, err))
        return false;
    atomic_store(&rabbit->station.waiting, waiting);
    rabbit->ask_at = mono_after(now, RABBIT_ASK_MS);
    shelf_heard(&rabbit->shelf);
    if (rabbit->consuming && now.ms - rabbit->consuming_since.ms >= RABBIT_AGAIN_MS)
        shelf_forget_lost(&rabbit->shelf);
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
    rabbit->consuming_since = clock_now(rabbit->station.clock).mono;
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
    return atomic_load(&rabbit->station.wanted) && !atomic_load(&rabbit->station.closing);
}

/* Without memory for more the consumer is cancelled, and what was fetched stays; it begins again
 * with a larger prefetch when there is memory for twice as many. */
static bool follow_wish(struct rabbit_source *rabbit, struct err *err) {
    size_t ready = shelf_ready(&rabbit->shelf), most = rabbit->url.prefetch;
    size_t fit = is_wanted(rabbit) ? ahead_count(&rabbit->ahead, 0, ready, most) : 0;
    bool grows = rabbit->prefetch < most && fit >= 2 * rabbit->prefetch;
    bool enough = fit >= RABBIT_FIT_LEAST || fit == most || ready == 0;
    if (rabbit->consuming && (fit == 0 || grows) && !stop_consuming(rabbit, err))
        return false;
    return rabbit->consuming || fit == 0 || !enough || start_consuming(rabbit, fit, err);
}

/* Deliveries that were under way when the consumer was cancelled come here, too. */
static bool return_unwanted(struct rabbit_source *rabbit, struct err *err) {
    int status = AMQP_STATUS_OK;
    for (struct parcel *parcel; !rabbit->consuming && !is_wanted(rabbit) &&
                                status == AMQP_STATUS_OK &&
                                (parcel = shelf_return(&rabbit->shelf, false));) {
        status = amqp_basic_nack(rabbit->connection.state, RABBIT_CHANNEL, parcel->tag, 0, 1);
        parcel_free(parcel);
    }
    return rabbit_connection_sent(&rabbit->connection, status, "give back", err);
}

/* One frame for as many as possible: a busy quorum queue has room for few, and the others wait in
 * the channel. */
static bool send_settled(struct rabbit_source *rabbit, struct err *err) {
    amqp_connection_state_t state = rabbit->connection.state;
    uint64_t up_to = shelf_send_up_to(&rabbit->shelf);
    int status = up_to ? amqp_basic_ack(state, RABBIT_CHANNEL, up_to, 1) : AMQP_STATUS_OK;
    for (struct parcel_word word; status == AMQP_STATUS_OK && shelf_send(&rabbit->shelf, &word);)
        status = amqp_basic_ack(state, RABBIT_CHANNEL, word.tag, 0);
    return rabbit_connection_sent(&rabbit->connection, status, "acknowledge", err);
}

/* ---- reading ---- */

static void take_delivery(struct rabbit_source *rabbit, amqp_envelope_t *delivery) {
    if (atomic_load(&rabbit->station.waiting) > 0)
        atomic_fetch_sub(&rabbit->station.waiting, 1);
    struct wall now = clock_now(rabbit->station.clock).wall;
    struct parcel *parcel = rabbit_message_read(delivery, &rabbit->place, now);
    bool again = delivery->redelivered;
    returns_deduct(&rabbit->returns, parcel->held);
    ahead_note(&rabbit->ahead, parcel->held);
    amqp_destroy_envelope(delivery);
    if (shelf_put(&rabbit->shelf, parcel, again, false))
        rabbit->news = true;
}

/* A user who may not declare queues is not told the type; a delivery of a stream has its offset. */
static bool is_of_stream(const struct rabbit_source *rabbit, const amqp_envelope_t *delivery) {
    const amqp_basic_properties_t *properties = &delivery->message.properties;
    return rabbit->limit.type == RABBIT_TYPE_UNKNOWN &&
           (properties->_flags & AMQP_BASIC_HEADERS_FLAG) != 0 &&
           rabbit_table_find(&properties->headers, "x-stream-offset") != NULL;
}

static enum rabbit_reading read_one(struct rabbit_source *rabbit, struct err *err) {
    amqp_envelope_t delivery;
    enum rabbit_reading reading = rabbit_connection_read(&rabbit->connection, 0, &delivery, err);
    if (reading != RABBIT_READ_ONE)
        return reading;
    if (is_of_stream(rabbit, &delivery)) {
        struct rabbit_limit stream = {.type = RABBIT_TYPE_STREAM};
        amqp_destroy_envelope(&delivery);
        rabbit_limit_no_stream(&stream, rabbit->url.queue, err);
        return RABBIT_READ_TROUBLE;
    }
    take_delivery(rabbit, &delivery);
    return reading;
}

/* ---- the thread ---- */

static void sleep_until(struct rabbit_source *rabbit, struct mono until) {
    int fd = rabbit->connection.state ? amqp_get_sockfd(rabbit->connection.state) : -1;
    bell_wait(&rabbit->station.bell, fd, until.ms - clock_now(rabbit->station.clock).mono.ms);
}

/* A quorum queue counts a delivery for everything that a connection had when it ended. */
static void note_lost(const struct parcel *parcel, void *arg) {
    if (parcel->keep && !parcel->stale)
        returns_note_lost(arg, parcel->id);
}

static void give_up_connection(struct rabbit_source *rabbit, const struct err *err) {
    shelf_each_open(&rabbit->shelf, note_lost, &rabbit->returns);
    returns_next_connection(&rabbit->returns);
    rabbit_connection_close(&rabbit->connection, false);
    rabbit->consuming = false;
    atomic_fetch_add(&rabbit->station.waiting, shelf_forget_tags(&rabbit->shelf));
    contact_lost(&rabbit->station.contact, clock_now(rabbit->station.clock).mono, err);
}

static void connect_again(struct rabbit_source *rabbit, struct mono now) {
    struct err err;
    if (now.ms < rabbit->station.contact.next_try.ms)
        sleep_until(rabbit, rabbit->station.contact.next_try);
    else if (open_source(rabbit, now, &err))
        contact_made(&rabbit->station.contact, now);
    else
        give_up_connection(rabbit, &err);
}

/* One round: what is wanted, what was settled, what came. */
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
        contact_ring(&rabbit->station.contact);
    rabbit->news = false;
    if (!well)
        give_up_connection(rabbit, &err);
    else if (reading == RABBIT_READ_NOTHING)
        sleep_until(rabbit, rabbit->ask_at);
}

static void say_goodbye(struct broker *broker) {
    struct rabbit_source *rabbit = self(broker);
    struct err err;
    if (!rabbit->connection.state)
        return;
    bool well = send_settled(rabbit, &err) && ask_queue(rabbit, (struct mono){0}, &err);
    rabbit_connection_close(&rabbit->connection, well);
}

static void turn(struct broker *broker) {
    struct rabbit_source *rabbit = self(broker);
    struct mono now = clock_now(rabbit->station.clock).mono;
    if (rabbit->connection.state)
        work(rabbit, now);
    else
        connect_again(rabbit, now);
}

static const struct station_duty duty = {"rabbit-source", turn, say_goodbye};

/* ---- the outside ---- */

static void rabbit_free(struct broker *broker) {
    station_free(&self(broker)->station);
    returns_free(&self(broker)->returns);
    free(self(broker));
}

static const struct broker_vtable vtable = {
    .kind = "rabbitmq",
    .receive = station_receive,
    STATION_SHELF,
    STATION_OUTSIDE,
    .free = rabbit_free,
};

enum status rabbit_source_check(struct bytes url, struct err *err) {
    struct rabbit_url parsed;
    return rabbit_url_source(url, NULL, &parsed, err);
}

struct broker *rabbit_source_new(const struct broker_options *options) {
    struct rabbit_source *rabbit = memory_new(sizeof *rabbit);
    station_init(&rabbit->station, &vtable, &duty, &rabbit->shelf, options);
    returns_init(&rabbit->returns);
    ahead_init(&rabbit->ahead, options);
    enum status status =
        rabbit_url_source(options->url, &rabbit->station.arena, &rabbit->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rng_seed(&rabbit->rng, options->seed);
    rabbit->place = (struct rabbit_place){.vhost = rabbit->url.vhost,
                                          .queue = rabbit->url.queue,
                                          .id_path = rabbit->url.id_path,
                                          .rng = &rabbit->rng};
    rabbit->connection.closing = &rabbit->station.closing;
    return &rabbit->station.broker;
}
