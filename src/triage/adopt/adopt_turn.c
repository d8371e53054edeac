/* adopt_turn: one turn of an entry's thread: some batches of a pass (peek), or some batches
 * received from its broker (take). In mode take a message is acknowledged (settle) only after its
 * letter is durable, and handed back for redelivery otherwise. */
#include <assert.h>
#include <stdlib.h>

#include "base/log.h"
#include "triage/adopt/adopt_state.h"

static void free_messages(struct message **held, size_t count) {
    for (size_t i = 0; i < count; i++)
        message_free(held[i]);
}

/* ---- peek ---- */

static void end_pass(struct adopt_place *place) {
    assert(!place->peek || place->entry->mode == ADOPT_PEEK);
    if (place->peek)
        place->peek->vtable->free(place->peek);
    place->peek = NULL;
    adopt_seen_forget_counts(place);
}

static void fail_pass(struct adopt_place *place, enum status status, const struct err *err) {
    bool for_good = status == STATUS_FORBIDDEN;
    end_pass(place);
    place->due = for_good ? MONO_NEVER : adopt_again(place);
    adopt_trouble(place, for_good ? ADOPT_REFUSED : ADOPT_WAITING, err);
}

static bool begin_pass(struct adopt_place *place) {
    const struct adopt_options *options = &place->adopt->options;
    struct err err;
    if (!place->peek)
        place->peek = options->peek(options->arg, place->entry);
    if (place->peek)
        return true;
    err_set(&err, STATUS_FORBIDDEN, "this broker cannot be read without consuming; use mode: take");
    fail_pass(place, STATUS_FORBIDDEN, &err);
    return false;
}

static void finish_pass(struct adopt_place *place) {
    end_pass(place);
    place->due = MONO_NEVER;
    adopt_good(place, ADOPT_DONE);
    log_info("adopt %.*s: pass complete; %llu letters are new, %llu were known",
             BYTES_ARG(place->entry->name), (unsigned long long)place->view.adopted,
             (unsigned long long)place->view.known);
}

/* Reads and adopts one batch. False: this turn is over. */
static bool read_some(struct adopt_place *place, struct instant now) {
    assert(place->peek);
    struct message *held[ADOPT_AT_ONCE];
    struct err err;
    size_t count = 0, done = 0, room = adopt_room(place);
    size_t most = room < ADOPT_AT_ONCE ? room : ADOPT_AT_ONCE;
    if (most == 0) {
        adopt_full(place);
        place->due = mono_after(now.mono, ADOPT_AGAIN_MS);
        return false;
    }
    enum status status = place->peek->vtable->next(place->peek, held, most, &count, &err);
    if (status == STATUS_TIMEOUT)
        return false;
    if (status == STATUS_OK && count == 0) {
        finish_pass(place);
        return false;
    }
    if (status == STATUS_OK)
        status = adopt_batch(place, held, count, &done, &err);
    free_messages(held, count);
    if (status == STATUS_OK && done < count) /* the engine fills the same DLQ */
        status = err_set(&err, STATUS_FULL, "DLQ \"%.*s\" is full", BYTES_ARG(place->entry->dlq));
    if (status == STATUS_OK)
        adopt_good(place, ADOPT_READING);
    else
        fail_pass(place, status, &err);
    return status == STATUS_OK;
}

static void peek(struct adopt_place *place, struct instant now) {
    place->due = now.mono;
    if (!begin_pass(place))
        return;
    for (size_t turns = 0; turns < ADOPT_TURNS && !place->adopt->ending; turns++)
        if (!read_some(place, now))
            return;
}

/* ---- take ---- */

static void on_ready(void *arg) {
    struct adopt_place *place = arg;
    place->ready = true;
    mailbox_ring(&place->wakeup);
}

/* While the DLQ is full nothing is received, since a message handed back may have used up one of
 * its deliveries. But a peeked message needs no room, and its letter stays read-only until the
 * message is taken. */
static bool is_wanted(struct adopt_place *place, struct err *err) {
    bool full = adopt_room(place) == 0;
    if (full && !place->crowded && adopt_awaits(place, &place->awaits, err) != STATUS_OK)
        return false;
    place->crowded = full;
    return !full || place->awaits;
}

static bool apply_room(struct adopt_place *place) {
    struct broker *broker = place->broker;
    struct err err = {STATUS_OK, ""};
    bool wanted = is_wanted(place, &err);
    if (broker->vtable->want)
        broker->vtable->want(broker, wanted);
    if (err.status != STATUS_OK)
        adopt_trouble(place, ADOPT_WAITING, &err);
    else if (!wanted)
        adopt_full(place);
    return wanted;
}

/* Opens the consumer on first use. False: nothing is to be received now. */
static bool begin_consuming(struct adopt_place *place, struct instant now) {
    const struct adopt_options *options = &place->adopt->options;
    bool begun = place->broker != NULL;
    if (!begun) {
        place->broker = options->take(options->arg, place->entry);
        place->quiet_from = now.mono;
    }
    bool wanted = apply_room(place);
    if (!begun && place->broker->vtable->listen)
        place->broker->vtable->listen(place->broker, on_ready, place);
    return wanted;
}

static bool is_connected(struct adopt_place *place) {
    assert(place->broker);
    struct broker_health health = {.connected = true};
    if (place->broker->vtable->health)
        place->broker->vtable->health(place->broker, &health);
    if (!health.connected && health.trouble.text[0])
        adopt_trouble(place, ADOPT_WAITING, &health.trouble);
    else if (health.connected)
        adopt_good(place, ADOPT_READING);
    return health.connected;
}

/* Acknowledges the messages whose letters are durable and hands the others back. */
static bool settle(struct adopt_place *place, struct message **held, size_t count,
                   struct instant now) {
    assert(place->broker && place->entry->mode == ADOPT_TAKE && count <= ADOPT_AT_ONCE);
    struct broker *broker = place->broker;
    struct instant later = {now.wall, mono_after(now.mono, ADOPT_AGAIN_MS)};
    size_t done;
    struct err err;
    enum status status = adopt_batch(place, held, count, &done, &err);
    for (size_t i = 0; i < done; i++) {
        broker->vtable->settle(broker, held[i]);
        message_free(held[i]);
    }
    for (size_t i = done; i < count; i++)
        broker->vtable->hand_back(broker, held[i], later);
    if (status != STATUS_OK)
        adopt_trouble(place, ADOPT_WAITING, &err);
    else if (done < count)
        adopt_full(place);
    return done == count;
}

static bool is_drained(struct broker *broker) {
    const struct broker_vtable *vtable = broker->vtable;
    return vtable->drained ? vtable->drained(broker) : vtable->lag(broker) == 0;
}

static void consume(struct adopt_place *place, struct instant now) {
    bool wanted = begin_consuming(place, now);
    struct broker *broker = place->broker;
    place->due = mono_after(now.mono, ADOPT_AGAIN_MS);
    if (!wanted)
        return;
    bool connected = is_connected(place);
    for (size_t turns = 0; turns < ADOPT_TURNS && !place->adopt->ending; turns++) {
        struct message *held[ADOPT_AT_ONCE];
        size_t count = broker->vtable->receive(broker, now, held, ADOPT_AT_ONCE);
        if (count == 0) {
            if (connected && is_drained(broker))
                adopt_release(place, now);
            place->due = mono_earlier(place->due, broker->vtable->next_wake(broker));
            return;
        }
        place->quiet_from = now.mono;
        if (!settle(place, held, count, now))
            return;
    }
    place->due = now.mono;
}

/* ---- both ---- */

void adopt_turn(struct adopt_place *place, struct instant now) {
    if (place->entry->mode == ADOPT_PEEK)
        peek(place, now);
    else
        consume(place, now);
}

void adopt_turn_end(struct adopt_place *place) {
    end_pass(place);
    if (place->broker)
        place->broker->vtable->free(place->broker);
    place->broker = NULL;
}
