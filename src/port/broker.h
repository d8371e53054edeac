/* broker: where new messages come from. The built-in queue is one; Redis and the rest are others.
 *
 * The engine asks for at most its free slots, hands each message over, records what became of it in
 * the store, and only then settles it here. What has failed once is held by the store and comes
 * back from there, not from here.
 *
 * An adapter of a server talks to it on a thread of its own, reconnects by itself with backoff, and
 * keeps a bounded number of messages at hand; none of the functions below waits for the network. It
 * has want, health and listen. A message that it gives has:
 *   envelope.id         its identity: the source's coordinates where it has some, else the
 *                       producer's message id, else what the URL's `id` finds in the body, else a
 *                       new one in each delivery (SEMANTICS 1.3)
 *   envelope.source     a JSON object with "kind" and those coordinates
 *   envelope.key, headers, content_type, created_at; and the body, byte for byte
 *   redelivered         the source cannot say that it was never given before
 *   deliveries          how often the source says that it was given, this time included; 0: it does
 *                       not count
 * and seq 0: the store does not hold it. The built-in queue is the exception: its messages live in
 * the store. */
#ifndef PORT_BROKER_H
#define PORT_BROKER_H

#include "base/instant.h"
#include "core/message.h"
#include "port/clock.h"

struct broker;

/* As people see it in `queues`. */
struct broker_health {
    bool connected;     /* messages can come and be settled */
    struct err trouble; /* why not, in words for people, without secrets; empty: not known yet */
};

struct broker_vtable {
    const char *kind; /* "builtin" "redis" "rabbitmq" "nats" "kafka" */
    /* Up to `max` never-attempted messages, oldest first, without waiting; the engine's until they
     * are settled or handed back. Each is to be freed with message_free. */
    size_t (*receive)(struct broker *broker, struct instant now, struct message **out, size_t max);
    /* The message's next home is durable, or it succeeded. MUST acknowledge at the source, as soon
     * as it can be reached, in any order of messages; MUST NOT before. envelope.state tells a
     * letter from a success. `held` stays the engine's, which frees it afterwards. */
    void (*settle)(struct broker *broker, struct message *held);
    /* It was not handed over, or the hand-over was interrupted: it comes again, behind what waits,
     * not before `due`. Takes `held`. */
    void (*hand_back)(struct broker *broker, struct message *held_take, struct instant due);
    /* When something may become ready without a wake-up from outside; MONO_NEVER: not by itself. */
    struct mono (*next_wake)(struct broker *broker);
    /* Messages at the source that were not received yet, as last known. */
    uint64_t (*lag)(struct broker *broker);
    /* Whether it is known that nothing waits at the source, for whoever else shares it neither.
     * NULL: where lag is 0. */
    bool (*drained)(struct broker *broker);
    /* Whether messages are wanted: MUST NOT fetch more while they are not, and gives back to the
     * source what was fetched and not received, where that costs the message nothing. NULL: nothing
     * is ever fetched ahead. */
    void (*want)(struct broker *broker, bool wanted);
    /* NULL: it is always connected. */
    void (*health)(struct broker *broker, struct broker_health *out);
    /* `ready` is called, from any thread, when receive may give something or the health changed. It
     * does not block. Before the first receive; fetching begins with it. NULL: the store tells. */
    void (*listen)(struct broker *broker, void (*ready)(void *arg), void *arg);
    /* Sends what was settled, for a bounded time, and closes. Messages that were received and
     * neither settled nor handed back stay the source's: they come again. */
    void (*free)(struct broker *broker);
};

struct broker {
    const struct broker_vtable *vtable;
};

/* What an adapter of a server is made from. Borrowed for the call; the clock for its life. */
struct broker_options {
    struct bytes url;      /* checked before */
    struct bytes queue;    /* whose source it is: for the log, and for names at the server */
    struct bytes instance; /* who we are, among others that consume: the same in every life */
    struct clock *clock;
    uint64_t seed;              /* of jitter */
    uint64_t max_body;          /* a larger body is not fetched whole, where that can be told */
    struct body_memory *memory; /* that bodies count towards; NULL: no limit */
    bool quiet;                 /* its health is not logged: whoever asks for it tells people */
};

#endif
