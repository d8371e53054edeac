/* haul: what lies at a broker, taken in waves, for adoption from a source that tells equal messages
 * apart by nothing. A source whose messages have coordinates is consumed through broker.h.
 *
 *   next: a wave ──▶ made durable ──▶ settle ──▶ noted as heard of ──▶ next …
 *
 * No message of another wave is given to us before the present one is settled, and the source says
 * that it has heard it: so whoever notes what it heard, before he asks for the next wave, knows
 * after his death which messages it can still have (docs/adopt.md tells the whole argument).
 *
 * The functions below may wait for the network. One thread calls them, and not the engine's. */
#ifndef PORT_HAUL_H
#define PORT_HAUL_H

#include "port/broker.h"

struct haul;

struct haul_vtable {
    /* A wave: up to `max` messages, oldest first, as broker.h says that a message looks; each is to
     * be freed with store_held_free. OK with *count 0: nothing waits. The wave before is settled to
     * its end, or was given up. Connects by itself. MUST NOT let the source give more than this
     * returns, but on trouble: then nothing is returned, all that is not settled comes again, and
     * err says why in words for people, without secrets. */
    enum status (*next)(struct haul *haul, struct store_held **out, size_t max, size_t *count,
                        struct err *err);
    /* The next `count` messages of the wave are durable here; 0: whether the source is still there.
     * OK: it has heard it. Otherwise it may have heard it or not, the wave is given up, and what
     * the source did not hear of comes again. */
    enum status (*settle)(struct haul *haul, size_t count, struct err *err);
    /* What was not settled comes again. */
    void (*free)(struct haul *haul);
};

struct haul {
    const struct haul_vtable *vtable;
};

#endif
