#include "broker/nats/nats_peek.h"

#include <assert.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/nats/stream/nats_stored.h"
#include "broker/nats/stream/nats_coordinates.h"
#include "broker/nats/stream/nats_pointer.h"
#include "broker/nats/stream/nats_span.h"

struct nats_peek {
    struct peek peek;
    struct clock *clock;
    struct arena arena; /* the texts of url and span */
    struct nats_url url;
    struct wakeup wakeup;
    struct nats_connection connection;
    struct nats_span span;
};

static struct nats_peek *self(struct peek *peek) {
    return CONTAINER_OF(peek, struct nats_peek, peek);
}

/* ---- beginning ---- */

static enum status read_span(struct nats_peek *nats, struct err *err) {
    struct nats_connection *connection = &nats->connection;
    struct json info;
    enum status status = nats_connection_ask_stream(connection, &nats->arena, &info, err);
    if (status != STATUS_OK)
        return status;
    if (!nats_span_of_stream(info, &nats->span))
        return nats_connection_odd(connection, err);
    if (!nats->url.consumer.len)
        return STATUS_OK;
    status = nats_connection_ask_consumer(connection, &nats->arena, &info, err);
    if (status == STATUS_OK)
        nats_span_for_consumer(info, &nats->arena, &nats->span);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

/* A server may accept us and have no JetStream: the next is tried. */
static enum status open_pass(struct nats_peek *nats, struct err *err) {
    if (nats->connection.nc)
        return STATUS_OK;
    enum status status = STATUS_UNREACHABLE;
    for (size_t host = 0; status == STATUS_UNREACHABLE && host < nats->url.host_count; host++) {
        if (!nats_connection_open(&nats->connection, &nats->url, &nats->wakeup, PEEK_WAIT_MS, err))
            return err->status;
        status = read_span(nats, err);
        if (status != STATUS_OK)
            nats_connection_close(&nats->connection);
    }
    return status;
}

static enum status nats_begin(struct peek *peek, struct err *err) {
    return open_pass(self(peek), err);
}

/* ---- reading ---- */

/* An advisory that cannot be followed is returned as it is, so that it does not hide the messages
 * after it. */
static void describe(struct nats_peek *nats, const struct nats_stored *stored,
                     struct message *held) {
    struct nats_coordinates coordinates = {.stream = nats->url.stream,
                                           .subject = stored->subject,
                                           .typed = stored->typed,
                                           .sequence = stored->sequence};
    struct err err;
    nats_coordinates_name(&coordinates, held);
    held->redelivered = true;
    nats_pointer_follow(&nats->connection, stored->subject, held, &err);
}

/* NULL with OK: there are no more. */
static enum status read_one(struct nats_peek *nats, struct message **out, struct err *err) {
    struct nats_fetch fetch = {.domain = nats->url.domain,
                               .stream = nats->url.stream,
                               .sequence = nats->span.next,
                               .filter = nats->span.filter};
    struct nats_stored stored;
    struct message *held = NULL;
    *out = NULL;
    enum status status = nats_stored_fetch(&nats->connection, &fetch, &held, &stored, err);
    if (status == STATUS_NOT_FOUND || (held && stored.sequence > nats->span.last)) {
        message_free(held);
        nats->span.next = nats->span.last + 1;
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return status;
    nats->span.next = stored.sequence + 1;
    describe(nats, &stored, held);
    *out = held;
    return STATUS_OK;
}

/* Messages that were read before an error are returned; the next call meets the error again. */
static enum status nats_next(struct peek *peek, struct message **out, size_t max, size_t *count,
                             struct err *err) {
    struct nats_peek *nats = self(peek);
    struct mono end = mono_after(clock_now(nats->clock).mono, PEEK_WAIT_MS);
    enum status status = open_pass(nats, err);
    *count = 0;
    while (status == STATUS_OK && *count < max && nats->span.next <= nats->span.last) {
        status = read_one(nats, &out[*count], err);
        if (status == STATUS_OK && out[*count])
            ++*count;
        if (clock_now(nats->clock).mono.ms >= end.ms)
            break;
    }
    return *count ? STATUS_OK : status;
}

static void nats_free(struct peek *peek) {
    struct nats_peek *nats = self(peek);
    nats_connection_close(&nats->connection);
    wakeup_free(&nats->wakeup);
    arena_free(&nats->arena);
    free(nats);
}

static const struct peek_vtable vtable = {
    .begin = nats_begin, .next = nats_next, .free = nats_free};

struct peek *nats_peek_new(const struct broker_options *options) {
    struct nats_peek *nats = memory_new(sizeof *nats);
    nats->peek.vtable = &vtable;
    nats->clock = options->clock;
    arena_init_heap(&nats->arena, URL_TEXT_MAX);
    enum status status = nats_url_peek(options->url, &nats->arena, &nats->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    wakeup_init(&nats->wakeup);
    return &nats->peek;
}
