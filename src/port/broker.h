/* broker: where new messages come from. The built-in queue is one; Redis and the rest are others.
 *
 * The engine asks for at most its free slots, hands each message over, records what became of it in
 * the store, and only then settles it here. What has failed once is held by the store and comes
 * back from there, not from here. */
#ifndef PORT_BROKER_H
#define PORT_BROKER_H

#include "base/instant.h"
#include "port/store.h"

struct broker;

struct broker_vtable {
    const char *kind; /* "builtin" */
    /* Up to `max` never-attempted messages, oldest first, without waiting; the engine's until they
     * are settled or handed back. MUST NOT give the one with seq `avoid` (0: none) while another
     * waits. Each is to be freed with store_held_free. */
    size_t (*receive)(struct broker *broker, struct instant now, uint64_t avoid,
                      struct store_held **out, size_t max);
    /* The message's next home is durable, or it succeeded. MUST acknowledge at the source; in any
     * order. `held` stays the engine's. */
    void (*settle)(struct broker *broker, struct store_held *held);
    /* It was not attempted, or the attempt does not count: it comes again, behind what waits. Takes
     * `held`. */
    void (*hand_back)(struct broker *broker, struct store_held *held_take, struct instant now);
    /* When something may become ready without a wake-up from outside; MONO_NEVER: not by itself. */
    struct mono (*next_wake)(struct broker *broker);
    /* Messages at the source that were not received yet. */
    uint64_t (*lag)(struct broker *broker);
    void (*free)(struct broker *broker);
};

struct broker {
    const struct broker_vtable *vtable;
};

#endif
