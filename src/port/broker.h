/* broker: the source of new messages: the built-in queue, or an adapter of a message broker.
 *
 * The engine receives at most as many messages as it has free slots, hands each over, records the
 * outcome in the store, and only then settles the message here. A message that has failed once is
 * in the store and is retried from there, not from here.
 *
 * An adapter talks to its server on a thread of its own, reconnects with backoff, and keeps a
 * bounded number of messages in flight; none of the functions below waits for the network. It has
 * want, health and listen. A message that it returns has:
 *   envelope.id         its identity: the source's coordinates where it has some, else the
 *                       producer's message id, else the value in the body that the URL's `id`
 *                       selects, else a new one in each delivery (SEMANTICS 1.3)
 *   envelope.source     a JSON object with "kind" and those coordinates
 *   envelope.key, headers, content_type, created_at; and the body, byte for byte
 *   redelivered         the message may have been delivered before
 *   deliveries          how often the source has delivered it, this time included; 0: it does not
 *                       count
 * and seq 0: the store does not hold it. The built-in queue is the exception: its messages live in
 * the store. */
#ifndef PORT_BROKER_H
#define PORT_BROKER_H

#include "base/instant.h"
#include "core/message.h"
#include "port/clock.h"

struct broker;

/* The state of the connection, as `queues` shows it. */
struct broker_health {
    bool connected;     /* messages can be received and settled */
    struct err trouble; /* why not, as a text for users without secrets; empty: not known yet */
};

struct broker_vtable {
    const char *kind; /* the name of its broker_kind, or "builtin" */
    /* Returns up to `max` messages that were never attempted, oldest first, without waiting. They
     * are the engine's until they are settled or handed back. Each is to be freed with
     * message_free. */
    size_t (*receive)(struct broker *broker, struct instant now, struct message **out, size_t max);
    /* The message is durable in the store, or it succeeded. MUST acknowledge it at the source, as
     * soon as that can be reached, in any order of messages; MUST NOT before. envelope.state
     * distinguishes a letter from a success. `held` stays the engine's, which frees it afterwards.
     */
    void (*settle)(struct broker *broker, struct message *held);
    /* The message was not attempted, or its attempt was interrupted: it is received again, after
     * the messages that wait, and not before `due`. Takes `held`. */
    void (*hand_back)(struct broker *broker, struct message *held_take, struct instant due);
    /* The time at which a message may become ready without a wake-up from outside; MONO_NEVER:
     * never. */
    struct mono (*next_wake)(struct broker *broker);
    /* Messages at the source that were not received yet, as last known. */
    uint64_t (*lag)(struct broker *broker);
    /* True if it is known that no message waits at the source, nor is in flight to another
     * consumer. NULL: when lag is 0. */
    bool (*drained)(struct broker *broker);
    /* Whether messages are wanted. While they are not, the adapter MUST NOT fetch more, and returns
     * fetched messages that were not received to the source, if that does not increase their
     * delivery count. NULL: nothing is ever fetched ahead. */
    void (*want)(struct broker *broker, bool wanted);
    /* NULL: it is always connected. */
    void (*health)(struct broker *broker, struct broker_health *out);
    /* `ready` is called, from any thread, when receive may return something or the health has
     * changed. It does not block. Called before the first receive; fetching begins with it. NULL:
     * the store notifies. */
    void (*listen)(struct broker *broker, void (*ready)(void *arg), void *arg);
    /* Sends acknowledgements, for a bounded time, and closes. Messages that were received and
     * neither settled nor handed back are not acknowledged: they are redelivered. */
    void (*free)(struct broker *broker);
};

struct broker {
    const struct broker_vtable *vtable;
};

/* The options of an adapter. Borrowed for the call, except the clock, which must outlive the
 * broker. */
struct broker_options {
    struct bytes url;      /* already checked */
    struct bytes queue;    /* the queue's name, for the log and for names at the server */
    struct bytes instance; /* the consumer name; it survives restarts */
    struct clock *clock;
    uint64_t seed;     /* for jitter */
    uint64_t max_body; /* a larger body is not fetched whole, if its size is known in advance */
    struct body_memory *memory; /* counts the bodies; NULL: no limit */
    bool quiet;                 /* the adapter does not log its health: the caller reports it */
};

#endif
