/* lines: the messages of an ordered queue by key, so that they go one at a time and in the order in
 * which they were put.
 *
 * A line holds what has one key: the live ones, the letters that are replayed, and the letters that
 * close the key, each oldest first. A message that was judged dead and waits for room in its DLQ
 * closes the key as its letter will. At most one live message and one replayed letter of a line
 * stand where they can be taken (store/tables/ready_queues.h); all others are blocked, which is
 * nowhere.
 *
 *   a live one goes       when it is the oldest and no older letter closes the key
 *   a replayed one goes   when it is the oldest of those and no older live one could go before it
 */
#ifndef STORE_TABLES_KEY_ORDER_H
#define STORE_TABLES_KEY_ORDER_H

#include "store/tables/ready_queues.h"

struct line;

struct key_order {
    struct map by_key;
    struct heap closed; /* lines with messages behind a letter, the longest first */
};

void key_order_free(struct key_order *lines); /* not the entries */
/* True when an entry of an ordered queue belongs into a line: it has a key, and waits, is taken, or
 * closes it. */
bool key_order_has_place(const struct entry *entry);
/* Into its line, and to where it may be taken if it is its turn. `now` as in ready_queues_add. */
void key_order_add(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                   const struct instant *now);
/* Out of its line and from wherever it waits; whose turn it is then may be taken. */
void key_order_remove(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                      const struct instant *now);
/* From the taken list back into its line, not before `due`. */
void key_order_give_back(struct key_order *lines, struct ready_queues *waiting, struct entry *entry,
                         struct mono due);
/* The letter that it waits for; NULL: none. */
const struct entry *key_order_blocked_by(const struct entry *entry);
/* Takes one that its line holds back. */
void key_order_take_one(struct ready_queues *waiting, struct entry *entry);
/* Takes what is behind a letter beyond the first `limit` of its line, youngest last. */
size_t key_order_take_blocked(struct key_order *lines, struct ready_queues *waiting, size_t limit,
                              struct entry **out, size_t max);

#endif
