/* reader: reads messages from the store, for take and by id. Their bytes are in memory, in the
 * journal or in the file and its packs. */
#ifndef STORE_EMBEDDED_READER_H
#define STORE_EMBEDDED_READER_H

#include "store/embedded/pages/large.h"
#include "store/embedded/store_internal.h"

size_t reader_take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max);
struct message *reader_take_any(struct store *store, uint32_t queue, uint64_t seq);
struct message *reader_take_one(struct store *store, uint32_t queue, uint64_t seq);
size_t reader_take_blocked(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max);
size_t reader_take_for_room(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max);
void reader_give_back(struct store *store, struct message *held_take, struct mono due);
enum status reader_get(struct letters *letters, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err);
enum status reader_holds(struct letters *letters, uint32_t queue, const struct bytes *ids,
                         size_t count, bool *out, struct err *err);
enum status reader_get_seq(struct letters *letters, uint64_t seq, struct message **out,
                           struct err *err);

/* The file of a large body, if the stored body is a stub. */
struct reader_large {
    char name[LARGE_NAME_SIZE]; /* "": the body is not a stub */
    char content_hash[LARGE_HASH_SIZE];
    uint64_t size;
};
enum status reader_large(struct sqlite_store *self, uint64_t seq, struct reader_large *out,
                         struct err *err);

#endif
