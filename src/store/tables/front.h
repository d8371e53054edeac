/* front: the part of the store port that every store answers from its tables alone, under its
 * mutex. Each store's struct begins with a struct front, and its vtables contain these functions.
 */
#ifndef STORE_TABLES_FRONT_H
#define STORE_TABLES_FRONT_H

#include <pthread.h>

#include "store/tables/tables.h"

struct front {
    struct store port;
    struct letters letters;
    pthread_mutex_t mutex; /* guards the members below */
    struct tables tables;
    void (*ready)(void *arg, uint32_t queue);
    void *ready_arg;
};

void front_init(struct front *front, const struct store_vtable *vtable,
                const struct letters_vtable *letters);
void front_free(struct front *front); /* frees its members */

uint32_t front_queue_number(struct store *store, struct bytes name);
size_t front_queue_names(struct store *store, struct arena *arena, struct bytes **out);
struct mono front_next_ready(struct store *store, uint32_t queue, enum store_take which);
void front_counts(struct store *store, uint32_t queue, struct store_queue_counts *out);
size_t front_awaiting_room(struct store *store, uint32_t queue, struct arena *arena,
                           struct store_count **out);
uint64_t front_next_seq(struct store *store);
struct bytes front_queue_facts(struct store *store, uint32_t queue, struct arena *arena);
uint64_t front_dlq_depth(struct store *store, struct bytes name);
enum status front_dlq(struct letters *letters, struct bytes name, struct wall now,
                      struct arena *arena, struct letters_dlq *out, struct err *err);
enum status front_dlq_names(struct letters *letters, struct arena *arena, struct bytes **out,
                            size_t *count, struct err *err);
void front_listen(struct store *store, void (*ready)(void *arg, uint32_t queue), void *arg);
void front_set_order(struct store *store, uint32_t queue, enum store_order order);
enum status front_groups(struct letters *letters, struct bytes dlq, struct arena *arena,
                         struct letters_group **out, size_t *count, struct err *err);
/* Returns the message to the list in which it waited; no effect if it is not taken any more. */
void front_give_back(struct front *front, uint64_t seq, struct mono due);

#endif
