#include "broker/rabbitmq/rabbit_peek.h"

#include <stdlib.h>

#include "base/memory.h"
#include "broker/rabbitmq/rabbit_limit.h"
#include "broker/rabbitmq/rabbit_batch.h"

struct rabbit_peek {
    struct peek peek;
    struct rabbit_batch batch;
    bool opened;
    size_t unreached; /* hosts, so far */
    int64_t limit;    /* of deliveries; RABBIT_LIMIT_NONE */
    uint64_t left;    /* of those that were there when the pass began */
    bool unsure;      /* … and the queue did not report them: `left` is a guess */
    unsigned silence; /* waits without a message, one after the other */
    uint64_t first;   /* messages of the first batch */
};

static struct rabbit_peek *self(struct peek *peek) {
    return CONTAINER_OF(peek, struct rabbit_peek, peek);
}

/* ---- beginning ---- */

static enum status forbid(const struct rabbit_peek *rabbit, int64_t left, struct err *err) {
    return err_set(
        err, STATUS_FORBIDDEN,
        "queue %.*s: the delivery limit leaves %lld, and a look costs one: with fewer than "
        "%d nothing is looked at; set mode: take",
        BYTES_ARG(rabbit->batch.url.queue), (long long)left, RABBIT_PEEK_LEFT_MIN);
}

/* A quorum queue that is busy for a quarter of a second reports that it is empty. Whether it is
 * empty is known after a batch, and the single message before it, brought nothing. */
static void count_left(struct rabbit_peek *rabbit) {
    rabbit->unsure = rabbit->batch.ready == 0;
    rabbit->left = rabbit->unsure ? RABBIT_PEEK_BATCH + 1 : rabbit->batch.ready;
}

/* Tries one host in each call. TIMEOUT: there are others. */
static enum status open_batch(struct rabbit_peek *rabbit, struct err *err) {
    struct rabbit_batch *batch = &rabbit->batch;
    if (rabbit_batch_open(batch, err))
        return STATUS_OK;
    bool reached = batch->connection.state;
    return !reached && ++rabbit->unreached < batch->url.host_count ? STATUS_TIMEOUT
                                                                   : STATUS_UNREACHABLE;
}

static enum status open_pass(struct rabbit_peek *rabbit, struct err *err) {
    struct rabbit_batch *batch = &rabbit->batch;
    enum status status = open_batch(rabbit, err);
    if (status != STATUS_OK)
        return status;
    struct rabbit_limit limit;
    if (!rabbit_limit_ask(&batch->connection, batch->url.queue, &limit, err))
        return STATUS_UNREACHABLE;
    rabbit->limit = limit.deliveries;
    rabbit->opened = true;
    if (!rabbit_limit_no_stream(&limit, batch->url.queue, err))
        return err->status = STATUS_FORBIDDEN;
    count_left(rabbit);
    if (rabbit->limit != RABBIT_LIMIT_NONE && rabbit->limit < RABBIT_PEEK_LEFT_MIN)
        return forbid(rabbit, rabbit->limit, err);
    return STATUS_OK;
}

static enum status rabbit_begin(struct peek *peek, struct err *err) {
    struct rabbit_peek *rabbit = self(peek);
    return rabbit->opened ? STATUS_OK : open_pass(rabbit, err);
}

/* ---- reading ---- */

/* `deliveries` includes this one; the limit does not. */
static enum status check_left(const struct rabbit_peek *rabbit, const struct message *held,
                              struct err *err) {
    if (rabbit->limit == RABBIT_LIMIT_NONE || held->deliveries == 0)
        return STATUS_OK;
    int64_t left = rabbit->limit - (held->deliveries - 1);
    return left < RABBIT_PEEK_LEFT_MIN ? forbid(rabbit, left, err) : STATUS_OK;
}

/* The first message is read alone where its deliveries may forbid reading others. */
static uint64_t batch_size(const struct rabbit_peek *rabbit) {
    if (rabbit->limit != RABBIT_LIMIT_NONE && rabbit->batch.count == 0)
        return 1;
    return rabbit->left < RABBIT_PEEK_BATCH ? rabbit->left : RABBIT_PEEK_BATCH;
}

static bool begin_batch(struct rabbit_peek *rabbit, struct err *err) {
    uint64_t count = batch_size(rabbit);
    if (rabbit->batch.count == 0)
        rabbit->first = count;
    return rabbit_batch_begin(&rabbit->batch, count, err);
}

/* Messages that others consumed meanwhile do not come; messages on their way to us no longer count
 * as waiting. */
static enum status bear_silence(struct rabbit_peek *rabbit, struct err *err) {
    if (!rabbit_batch_ask(&rabbit->batch, err))
        return STATUS_UNREACHABLE;
    if (++rabbit->silence > 1 && rabbit->batch.ready == 0)
        rabbit->left = 0;
    else if (rabbit->silence > RABBIT_PEEK_SILENCE_MAX)
        return err_set(err, STATUS_UNREACHABLE,
                       "queue %.*s returned no messages; it may have an exclusive consumer",
                       BYTES_ARG(rabbit->batch.url.queue));
    return rabbit->left > 0 ? STATUS_TIMEOUT : STATUS_OK;
}

static bool end_batch(struct rabbit_peek *rabbit, struct err *err) {
    if (!rabbit_batch_end(&rabbit->batch, err))
        return false;
    if (rabbit->left > 0 || !rabbit->unsure)
        return true;
    bool well = rabbit_batch_ask(&rabbit->batch, err);
    count_left(rabbit);
    return well;
}

static enum status check_read(struct rabbit_peek *rabbit, struct message **held, struct err *err) {
    rabbit->silence = 0;
    rabbit->left--;
    enum status status = check_left(rabbit, *held, err);
    if (rabbit->batch.open == 0 && status == STATUS_OK && !end_batch(rabbit, err))
        status = STATUS_UNREACHABLE;
    if (status != STATUS_OK) {
        message_free(*held);
        *held = NULL;
    }
    return status;
}

/* TIMEOUT: no message came. OK with *out NULL: none will, or the frame was no delivery. */
static enum status read_one(struct rabbit_peek *rabbit, bool wait, struct message **out,
                            struct err *err) {
    *out = NULL;
    if (rabbit->batch.open == 0 && !begin_batch(rabbit, err))
        return STATUS_UNREACHABLE;
    switch (rabbit_batch_read(&rabbit->batch, wait ? PEEK_WAIT_MS : 0, out, err)) {
    case RABBIT_READ_ONE:
        return check_read(rabbit, out, err);
    case RABBIT_READ_NOTHING:
        return wait ? bear_silence(rabbit, err) : STATUS_TIMEOUT;
    case RABBIT_READ_OTHER:
        return STATUS_OK;
    case RABBIT_READ_TROUBLE:
        break;
    }
    return STATUS_UNREACHABLE;
}

/* Waits only for the first. */
static enum status rabbit_next(struct peek *peek, struct message **out, size_t max, size_t *count,
                               struct err *err) {
    struct rabbit_peek *rabbit = self(peek);
    enum status status = rabbit_begin(peek, err);
    *count = 0;
    while (status == STATUS_OK && *count < max && rabbit->left > 0) {
        struct message *held;
        status = read_one(rabbit, *count == 0, &held, err);
        if (held)
            out[(*count)++] = held;
    }
    if (status == STATUS_TIMEOUT && *count > 0)
        return STATUS_OK;
    for (; status != STATUS_OK && *count > 0; (*count)--)
        message_free(out[*count - 1]);
    return status;
}

/* ---- the end ---- */

static bool return_up_to(struct rabbit_peek *rabbit, uint64_t tag) {
    struct rabbit_connection *connection = &rabbit->batch.connection;
    struct err err;
    int status = amqp_basic_nack(connection->state, RABBIT_CHANNEL, tag, 1, 1);
    return rabbit_connection_sent(connection, status, "give back", &err) &&
           rabbit_batch_ask(&rabbit->batch, &err);
}

/* Batch by batch, each after the one before is done: a quorum queue orders what several consumers
 * return at one time arbitrarily. Then the rest, also what was not read. */
static bool give_back(struct rabbit_peek *rabbit) {
    struct err err;
    if (rabbit->batch.open > 0 && !rabbit_batch_end(&rabbit->batch, &err))
        return false;
    for (uint64_t tag = rabbit->first; tag < rabbit->batch.last; tag += RABBIT_PEEK_BATCH)
        if (!return_up_to(rabbit, tag))
            return false;
    return return_up_to(rabbit, 0);
}

static void rabbit_free(struct peek *peek) {
    struct rabbit_peek *rabbit = self(peek);
    rabbit_batch_free(&rabbit->batch, rabbit->batch.connection.state && give_back(rabbit));
    free(rabbit);
}

struct peek *rabbit_peek_new(const struct broker_options *options) {
    static const struct peek_vtable vtable = {rabbit_begin, rabbit_next, rabbit_free};
    struct rabbit_peek *rabbit = memory_new(sizeof *rabbit);
    rabbit->peek.vtable = &vtable;
    rabbit_batch_init(&rabbit->batch, options);
    return &rabbit->peek;
}
