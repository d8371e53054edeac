/* lines: the messages of an ordered queue by key, so that they go one at a time and in the order in
 * which they were put.
 *
 * A line holds what has one key: the live ones, the letters that are replayed, and the letters that
 * close the key, each oldest first. A message that was judged dead and waits for room in its DLQ
 * closes the key as its letter will. At most one live message and one replayed letter of a line
 * stand where they can be taken (store/waiting.h); all others are blocked, which is nowhere.
 *
 *   a live one goes       when it is the oldest and no older letter closes the key
 *   a replayed one goes   when it is the oldest of those and no older live one could go before it
 */
#ifndef STORE_LINES_H
#define STORE_LINES_H

#include "store/waiting.h"

struct line;

struct lines {
    struct map by_key;
    struct heap closed; /* lines with messages behind a letter, the longest first */
};

void lines_free(struct lines *lines); /* not the entries */
/* True when an entry of an ordered queue belongs into a line: it has a key, and waits, is taken, or
 * closes it. */
bool lines_has_place(const struct entry *entry);
/* Into its line, and to where it may be taken if it is its turn. `now` as in waiting_add. */
void lines_add(struct lines *lines, struct waiting *waiting, struct entry *entry,
               const struct instant *now);
/* Out of its line and from wherever it waits; whose turn it is then may be taken. */
void lines_remove(struct lines *lines, struct waiting *waiting, struct entry *entry,
                  const struct instant *now);
/* From the taken list back into its line, not before `due`. */
void lines_give_back(struct lines *lines, struct waiting *waiting, struct entry *entry,
                     struct mono due);
/* The letter that it waits for; NULL: none. */
const struct entry *lines_blocked_by(const struct entry *entry);
/* Takes one that its line holds back. */
void lines_take_one(struct waiting *waiting, struct entry *entry);
/* Takes what is behind a letter beyond the first `limit` of its line, youngest last. */
size_t lines_take_blocked(struct lines *lines, struct waiting *waiting, size_t limit,
                          struct entry **out, size_t max);

#endif
