#include "broker/rabbit_peek.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/rabbit_connection.h"
#include "broker/rabbit_limit.h"
#include "broker/rabbit_message.h"

enum { TAG_SIZE = 32 };

struct rabbit_peek {
    struct peek peek;
    struct clock *clock;
    struct arena arena; /* the URL's texts */
    struct rabbit_url url;
    struct rabbit_place place;
    struct rabbit_connection connection;
    bool opened;
    int64_t limit;      /* of deliveries; RABBIT_LIMIT_NONE */
    uint64_t left;      /* of those that were there when the pass began */
    uint64_t wave;      /* of those that the present consumer may have; 0: there is none */
    uint64_t ready;     /* as last asked */
    unsigned silence;   /* waits without a message, one after the other */
    unsigned waves;     /* so far */
    uint64_t first;     /* messages of the first of them */
    uint64_t last_tag;  /* that was read: the channel counts them from 1 */
    char tag[TAG_SIZE]; /* of the present consumer */
};

static struct rabbit_peek *self(struct peek *peek) {
    return CONTAINER_OF(peek, struct rabbit_peek, peek);
}

/* ---- beginning ---- */

static bool ask_queue(struct rabbit_peek *rabbit, struct err *err) {
    amqp_queue_declare_ok_t *queue =
        amqp_queue_declare(rabbit->connection.state, RABBIT_CHANNEL,
                           rabbit_bytes(rabbit->url.queue), 1, 0, 0, 0, amqp_empty_table);
    if (!rabbit_connection_asked(&rabbit->connection, amqp_get_rpc_reply(rabbit->connection.state),
                                 "look for the queue", err))
        return false;
    rabbit->ready = queue->message_count;
    return true;
}

static enum status forbid(const struct rabbit_peek *rabbit, int64_t left, struct err *err) {
    return err_set(
        err, STATUS_FORBIDDEN,
        "queue %.*s: the delivery limit leaves %lld, and a look costs one: with fewer than "
        "%d nothing is looked at; set mode: take",
        BYTES_ARG(rabbit->url.queue), (long long)left, RABBIT_PEEK_LEFT_MIN);
}

static enum status open_pass(struct rabbit_peek *rabbit, struct err *err) {
    if (!rabbit_connection_open(&rabbit->connection, &rabbit->url, err) ||
        !ask_queue(rabbit, err) ||
        !rabbit_limit_ask(&rabbit->connection, rabbit->url.queue, &rabbit->limit, err))
        return STATUS_UNREACHABLE;
    rabbit->opened = true;
    rabbit->left = rabbit->ready;
    if (rabbit->limit != RABBIT_LIMIT_NONE && rabbit->limit < RABBIT_PEEK_LEFT_MIN)
        return forbid(rabbit, rabbit->limit, err);
    return STATUS_OK;
}

/* ---- reading ---- */

static struct store_held *read_message(struct rabbit_peek *rabbit, amqp_envelope_t *delivery) {
    bool named;
    struct parcel *parcel =
        rabbit_message_read(delivery, &rabbit->place, clock_now(rabbit->clock).wall, &named);
    struct store_held *held = parcel->held;
    held->source = NULL;
    parcel->held = NULL;
    parcel_free(parcel);
    return held;
}

/* `deliveries` counts this one, too; the limit does not. */
static enum status check_left(const struct rabbit_peek *rabbit, const struct store_held *held,
                              struct err *err) {
    if (rabbit->limit == RABBIT_LIMIT_NONE || held->deliveries == 0)
        return STATUS_OK;
    int64_t left = rabbit->limit - (held->deliveries - 1);
    return left < RABBIT_PEEK_LEFT_MIN ? forbid(rabbit, left, err) : STATUS_OK;
}

/* The first message is looked at alone where it may tell that no other should be. */
static uint64_t wave_of(const struct rabbit_peek *rabbit) {
    if (rabbit->limit != RABBIT_LIMIT_NONE && rabbit->waves == 0)
        return 1;
    return rabbit->left < RABBIT_PEEK_WAVE ? rabbit->left : RABBIT_PEEK_WAVE;
}

/* Each consumer has a name of its own: to a quorum queue, one of the same name is the one before,
 * with all that it has. */
static bool begin_wave(struct rabbit_peek *rabbit, struct err *err) {
    amqp_connection_state_t state = rabbit->connection.state;
    rabbit->wave = wave_of(rabbit);
    if (rabbit->waves == 0)
        rabbit->first = rabbit->wave;
    snprintf(rabbit->tag, sizeof rabbit->tag, "impound-peek-%u", ++rabbit->waves);
    amqp_basic_qos(state, RABBIT_CHANNEL, 0, (uint16_t)rabbit->wave, 0);
    if (!rabbit_connection_asked(&rabbit->connection, amqp_get_rpc_reply(state), "set the prefetch",
                                 err))
        return false;
    amqp_basic_consume(state, RABBIT_CHANNEL, rabbit_bytes(rabbit->url.queue),
                       amqp_cstring_bytes(rabbit->tag), 0, 0, 0, amqp_empty_table);
    return rabbit_connection_asked(&rabbit->connection, amqp_get_rpc_reply(state), "consume", err);
}

static bool end_wave(struct rabbit_peek *rabbit, struct err *err) {
    amqp_basic_cancel(rabbit->connection.state, RABBIT_CHANNEL, amqp_cstring_bytes(rabbit->tag));
    rabbit->wave = 0;
    return rabbit_connection_asked(
        &rabbit->connection, amqp_get_rpc_reply(rabbit->connection.state), "stop consuming", err);
}

/* What others took meanwhile does not come; what is on its way to us no longer waits there. */
static enum status bear_silence(struct rabbit_peek *rabbit, struct err *err) {
    if (!ask_queue(rabbit, err))
        return STATUS_UNREACHABLE;
    if (++rabbit->silence > 1 && rabbit->ready == 0)
        rabbit->left = 0;
    else if (rabbit->silence > RABBIT_PEEK_SILENCE_MAX)
        return err_set(err, STATUS_UNREACHABLE, "queue %.*s gives nothing: is it another's alone?",
                       BYTES_ARG(rabbit->url.queue));
    return rabbit->left > 0 ? STATUS_TIMEOUT : STATUS_OK;
}

static enum status take_delivery(struct rabbit_peek *rabbit, amqp_envelope_t *delivery,
                                 struct store_held **out, struct err *err) {
    struct store_held *held = read_message(rabbit, delivery);
    rabbit->last_tag = delivery->delivery_tag;
    amqp_destroy_envelope(delivery);
    rabbit->silence = 0;
    rabbit->left--;
    enum status status = check_left(rabbit, held, err);
    if (--rabbit->wave == 0 && status == STATUS_OK && !end_wave(rabbit, err))
        status = STATUS_UNREACHABLE;
    if (status == STATUS_OK)
        *out = held;
    else
        store_held_free(held);
    return status;
}

/* TIMEOUT: nothing came. OK with *out NULL: nothing will, or it was no message. */
static enum status read_one(struct rabbit_peek *rabbit, bool wait, struct store_held **out,
                            struct err *err) {
    amqp_envelope_t delivery;
    *out = NULL;
    if (rabbit->wave == 0 && !begin_wave(rabbit, err))
        return STATUS_UNREACHABLE;
    switch (rabbit_connection_read(&rabbit->connection, wait ? PEEK_WAIT_MS : 0, &delivery, err)) {
    case RABBIT_READ_ONE:
        return take_delivery(rabbit, &delivery, out, err);
    case RABBIT_READ_NOTHING:
        return wait ? bear_silence(rabbit, err) : STATUS_TIMEOUT;
    case RABBIT_READ_OTHER:
        return STATUS_OK;
    case RABBIT_READ_TROUBLE:
        break;
    }
    return STATUS_UNREACHABLE;
}

/* Waits for the first alone. */
static enum status rabbit_next(struct peek *peek, struct store_held **out, size_t max,
                               size_t *count, struct err *err) {
    struct rabbit_peek *rabbit = self(peek);
    enum status status = rabbit->opened ? STATUS_OK : open_pass(rabbit, err);
    *count = 0;
    while (status == STATUS_OK && *count < max && rabbit->left > 0) {
        struct store_held *held;
        status = read_one(rabbit, *count == 0, &held, err);
        if (held)
            out[(*count)++] = held;
    }
    if (status == STATUS_TIMEOUT && *count > 0)
        return STATUS_OK;
    for (; status != STATUS_OK && *count > 0; (*count)--)
        store_held_free(out[*count - 1]);
    return status;
}

/* ---- the end ---- */

static bool return_up_to(struct rabbit_peek *rabbit, uint64_t tag) {
    struct err err;
    int status = amqp_basic_nack(rabbit->connection.state, RABBIT_CHANNEL, tag, 1, 1);
    return rabbit_connection_sent(&rabbit->connection, status, "give back", &err) &&
           ask_queue(rabbit, &err);
}

/* Wave by wave, each once the one before is done: a quorum queue takes what several consumers
 * return at one time in any order. Then the rest, also what was not read. */
static bool give_back(struct rabbit_peek *rabbit) {
    struct err err;
    if (rabbit->wave > 0 && !end_wave(rabbit, &err))
        return false;
    for (uint64_t tag = rabbit->first; tag < rabbit->last_tag; tag += RABBIT_PEEK_WAVE)
        if (!return_up_to(rabbit, tag))
            return false;
    return return_up_to(rabbit, 0);
}

static void rabbit_free(struct peek *peek) {
    struct rabbit_peek *rabbit = self(peek);
    if (rabbit->connection.state)
        rabbit_connection_close(&rabbit->connection, give_back(rabbit));
    arena_free(&rabbit->arena);
    free(rabbit);
}

struct peek *rabbit_peek_new(const struct broker_options *options) {
    static const struct peek_vtable vtable = {rabbit_next, rabbit_free};
    struct rabbit_peek *rabbit = memory_new(sizeof *rabbit);
    rabbit->peek.vtable = &vtable;
    rabbit->clock = options->clock;
    arena_init_heap(&rabbit->arena, URL_TEXT_MAX);
    enum status status = rabbit_url_source(options->url, &rabbit->arena, &rabbit->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    rabbit->place = (struct rabbit_place){rabbit->url.vhost, rabbit->url.queue};
    return &rabbit->peek;
}
