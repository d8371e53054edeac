/* message: one message in memory: its envelope, its body, and the memory that both stand in.
 *
 * A source gives it (port/broker.h), or the store does (port/store.h). Everything it points at is
 * in `arena`, which starts in one piece with the struct; a large body has a block of its own, so
 * that it can be given up alone while the store has a copy.
 *
 * The functions are inline, since they allocate: core itself makes and frees no message, it judges
 * those that it is given. */
#ifndef CORE_MESSAGE_H
#define CORE_MESSAGE_H

#include <assert.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/body_memory.h"
#include "base/thread/pool.h"
#include "core/envelope/envelope.h"

struct message {
    uint64_t seq; /* the store's number for it; 0: it is not stored (yet) */
    struct envelope envelope;
    struct bytes body;
    struct arena arena; /* heap; everything above points into it */
    struct pool *pool;  /* where the struct was allocated; NULL: on the heap */
    void *source;       /* the source's own record of the delivery, for settle */
    /* Distinguishes the delivery from others with the same id while the source has it unsettled; in
     * the arena. Empty: its coordinates do, or nothing does */
    struct bytes delivery;
    bool redelivered;    /* its source may have delivered it before */
    uint32_t deliveries; /* how often its source delivered it, this time included; 0: not counted */
    char *apart;         /* block of a large body, outside the arena; NULL: it is in the arena */
    bool body_dropped;   /* its body was given up to save memory; the store still has it */
    struct body_memory *memory; /* where its body is counted; NULL: nowhere … */
    size_t counted;             /* … as so many bytes */
};

enum {
    MESSAGE_ROOM = 1024,
    MESSAGE_BODY_APART = 64 << 10, /* a body of at least so many bytes has a block of its own */
};

/* `room` bytes of the arena are in one piece with the struct; more is added as it is needed. */
static inline struct message *message_new_in(struct pool *pool, size_t room) {
    size_t size = sizeof(struct message) + room;
    struct message *message = pool ? pool_get(pool, size) : malloc(size);
    if (!message)
        abort();
    *message = (struct message){.pool = pool};
    arena_init_heap_in(&message->arena, message + 1, room, MESSAGE_ROOM);
    return message;
}

static inline struct message *message_new(void) {
    return message_new_in(NULL, MESSAGE_ROOM);
}

/* Copies the body. False: there is no memory for it. */
static inline bool message_set_body(struct message *message, struct bytes body) {
    if (body.len < MESSAGE_BODY_APART) {
        message->body = arena_dup(&message->arena, body);
        return true;
    }
    assert(!message->apart);
    message->apart = bytes_try_dup(body);
    message->body = (struct bytes){message->apart, message->apart ? body.len : 0};
    return message->apart != NULL;
}

/* Counts its body until it is freed or dropped; once. */
static inline void message_count_body(struct message *message, struct body_memory *memory) {
    if (message->memory || !memory)
        return;
    message->memory = memory;
    message->counted = message->body.len;
    body_memory_add(memory, BODY_MEMORY_MESSAGES, message->counted);
}

static inline void message_uncount_body(struct message *message) {
    body_memory_sub(message->memory, BODY_MEMORY_MESSAGES, message->counted);
    message->memory = NULL;
    message->counted = 0;
}

/* Gives up a large body, of which the store must have a copy. */
static inline void message_drop_body(struct message *message) {
    if (!message->apart)
        return;
    message_uncount_body(message);
    free(message->apart);
    message->apart = NULL;
    message->body = BYTES_NONE;
    message->body_dropped = true;
}

static inline void message_free(struct message *message) {
    if (!message)
        return;
    message_uncount_body(message);
    free(message->apart);
    arena_free(&message->arena);
    if (message->pool)
        pool_put(message);
    else
        free(message);
}

#endif
