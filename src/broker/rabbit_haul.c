#include "broker/rabbit_haul.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/rabbit_limit.h"
#include "broker/rabbit_wave.h"

struct rabbit_haul {
    struct haul haul;
    struct rabbit_wave wave;
    size_t count, settled; /* messages of the wave */
};

static struct rabbit_haul *self(struct haul *haul) {
    return CONTAINER_OF(haul, struct rabbit_haul, haul);
}

/* The next call connects again, perhaps to another host. */
static enum status give_up(struct rabbit_haul *rabbit) {
    rabbit_connection_close(&rabbit->wave.connection, false);
    rabbit->wave.open = 0;
    rabbit->count = rabbit->settled = 0;
    return STATUS_UNREACHABLE;
}

/* So many as wait, and as may be had. Also tells whether the server is still there. */
static bool look(struct rabbit_haul *rabbit, size_t max, size_t *out, struct err *err) {
    struct rabbit_wave *wave = &rabbit->wave;
    struct rabbit_limit limit;
    if (wave->connection.state
            ? !rabbit_wave_ask(wave, err)
            : !rabbit_wave_open(wave, err) ||
                  !rabbit_limit_ask(&wave->connection, wave->url.queue, &limit, err) ||
                  !rabbit_limit_no_stream(&limit, wave->url.queue, err))
        return false;
    const uint64_t limits[] = {wave->ready, max, wave->url.prefetch, RABBIT_HAUL_MAX};
    *out = RABBIT_HAUL_MAX;
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] < *out)
            *out = (size_t)limits[i];
    return true;
}

/* False: trouble. */
static bool read_up_to(struct rabbit_haul *rabbit, int64_t wait_ms, struct store_held **out,
                       size_t want, struct err *err) {
    enum rabbit_reading reading = RABBIT_READ_OTHER;
    while (rabbit->count < want && reading != RABBIT_READ_NOTHING) {
        reading = rabbit_wave_read(&rabbit->wave, wait_ms, &out[rabbit->count], err);
        if (reading == RABBIT_READ_TROUBLE)
            return false;
        rabbit->count += reading == RABBIT_READ_ONE;
    }
    return true;
}

/* What was on its way when the consumer was cancelled came before the answer to that. */
static bool read_wave(struct rabbit_haul *rabbit, struct store_held **out, size_t want,
                      struct err *err) {
    return rabbit_wave_begin(&rabbit->wave, want, err) &&
           read_up_to(rabbit, RABBIT_HAUL_WAIT_MS, out, want, err) &&
           rabbit_wave_end(&rabbit->wave, err) && read_up_to(rabbit, 0, out, want, err);
}

static enum status rabbit_next(struct haul *haul, struct store_held **out, size_t max,
                               size_t *count, struct err *err) {
    struct rabbit_haul *rabbit = self(haul);
    size_t want;
    *count = rabbit->count = rabbit->settled = 0;
    if (!look(rabbit, max, &want, err))
        return give_up(rabbit);
    bool well = want == 0 || read_wave(rabbit, out, want, err);
    *count = rabbit->count;
    if (well)
        return STATUS_OK;
    for (; *count > 0; (*count)--)
        store_held_free(out[*count - 1]);
    return give_up(rabbit);
}

/* The answer to the question behind it says that it was heard. All with one word: a channel passes
 * on to a quorum queue what that has no time for only while it lives, and of many words some are
 * left when we die. Whatever came before on this channel is settled. */
static enum status rabbit_settle(struct haul *haul, size_t count, struct err *err) {
    struct rabbit_haul *rabbit = self(haul);
    struct rabbit_connection *connection = &rabbit->wave.connection;
    assert(count <= rabbit->count - rabbit->settled);
    rabbit->settled += count;
    uint64_t last = rabbit->wave.last - (rabbit->count - rabbit->settled);
    int status =
        count ? amqp_basic_ack(connection->state, RABBIT_CHANNEL, last, 1) : AMQP_STATUS_OK;
    if (rabbit_connection_sent(connection, status, "acknowledge", err) &&
        rabbit_wave_ask(&rabbit->wave, err))
        return STATUS_OK;
    return give_up(rabbit);
}

static void rabbit_free(struct haul *haul) {
    struct rabbit_haul *rabbit = self(haul);
    rabbit_wave_free(&rabbit->wave, true);
    free(rabbit);
}

struct haul *rabbit_haul_new(const struct broker_options *options) {
    static const struct haul_vtable vtable = {rabbit_next, rabbit_settle, rabbit_free};
    struct rabbit_haul *rabbit = memory_new(sizeof *rabbit);
    rabbit->haul.vtable = &vtable;
    rabbit_wave_init(&rabbit->wave, options);
    return &rabbit->haul;
}
