/* body_memory: counts the bytes of message bodies in memory, against one limit of the process.
 *
 * The limit is shared by two sides that have half of it each, so that neither can starve the other:
 * requests being received, and messages that were read to be handed over, listed, replayed or sent
 * in an answer. Every body is counted (body_memory_add), even beyond the limit; the limit holds
 * because nothing new is started while a side has no room (body_memory_has_room). A side exceeds
 * its half by the last thing started, at most. A NULL account has no limit and counts nothing.
 *
 * Every function may be called from any thread. */
#ifndef BASE_BODY_MEMORY_H
#define BASE_BODY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

enum body_memory_side {
    BODY_MEMORY_REQUESTS, /* bodies of HTTP requests, until they are answered */
    BODY_MEMORY_MESSAGES, /* bodies of messages that were read or received, and answers with them */
    BODY_MEMORY_SIDES
};

enum { BODY_MEMORY_SMALL = 64 << 10 }; /* an answer below this many bytes is not counted */

struct body_memory;

struct body_memory *body_memory_new(size_t limit);
void body_memory_free(struct body_memory *memory);
void body_memory_add(struct body_memory *memory, enum body_memory_side side, size_t bytes);
void body_memory_sub(struct body_memory *memory, enum body_memory_side side, size_t bytes);
bool body_memory_has_room(const struct body_memory *memory, enum body_memory_side side);
size_t body_memory_used(const struct body_memory *memory, enum body_memory_side side);
size_t body_memory_limit(const struct body_memory *memory); /* for both sides; 0: none */
/* `freed` is called once after each body_memory_want, from any thread, when memory of the messages'
 * side was freed. It MUST NOT block. One listener; NULL removes it. */
void body_memory_listen(struct body_memory *memory, void (*freed)(void *arg), void *arg);
void body_memory_want(struct body_memory *memory);

#endif
