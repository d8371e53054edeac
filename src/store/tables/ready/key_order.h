/* key_order: the messages of an ordered queue by key, so that those of one key are processed one at
 * a time and in the order in which they were put.
 *
 * A struct key_line holds the entries of one key: live messages, replaying letters, and letters
 * that close the key, each oldest first. A message that was judged dead and waits for room in its
 * DLQ closes the key as its letter will. At most one live message and one replaying letter of a key
 * are in the lists from which they can be taken (store/tables/ready/ready_queues.h); all others are
 * blocked, and are in none of these lists.
 *
 * A live message can be taken if it is the oldest live one and no older letter closes the key. A
 * replaying letter can be taken if it is the oldest replaying one and no older live message can be
 * taken before it. */
#ifndef STORE_TABLES_KEY_ORDER_H
#define STORE_TABLES_KEY_ORDER_H

#include "store/tables/ready/ready_queues.h"

struct key_line;

struct key_order {
    struct map by_key;
    struct heap closed; /* keys with messages blocked by a letter, the most messages first */
};

void key_order_free(struct key_order *lines); /* not the entries */
/* True if an entry of an ordered queue belongs into a line: it has a key, and waits, is taken, or
 * closes the key. */
bool key_order_has_place(const struct entry *entry);
/* Adds the entry to its line, and to the list from which it can be taken if it is its turn. `now`
 * as in ready_queues_add. */
void key_order_add(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                   const struct instant *now);
/* Removes the entry from its line and from the list in which it waits. The next entry of the key
 * may be taken then. */
void key_order_remove(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                      const struct instant *now);
/* Moves the entry from the taken list back to its line, not before `due`. */
void key_order_give_back(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                         struct mono due);
/* The letter that blocks the entry; NULL: none. */
const struct entry *key_order_blocked_by(const struct entry *entry);
/* Takes an entry that is blocked. */
void key_order_take_one(struct ready_queues *waiting, struct entry *entry);
/* Takes messages that a letter blocks, except the first `limit` of each key, youngest last. */
size_t key_order_take_blocked(struct key_order *lines, struct ready_queues *waiting, size_t limit,
                              struct entry **out, size_t max);

#endif
