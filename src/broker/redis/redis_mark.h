/* redis_mark: recognises a letter that was sent back to a list.
 *
 * An element has no headers that could name the letter. Its mark is stored beside the list instead,
 * under a hash of the element, until the element is taken; from then on it is part of the tag that
 * the element has in the consumer's hash, and goes back with it:
 *
 *   orders:impound-sent      sha1 of the element → LETTER:REPLAYS[,LETTER:REPLAYS…]
 *   orders:impound:CONSUMER  TAG|LETTER:REPLAYS → the element
 *
 * Marks that are not taken expire after REDIS_MARK_KEPT_MS. */
#ifndef BROKER_REDIS_MARK_H
#define BROKER_REDIS_MARK_H

#include "base/arena.h"
#include "port/sink.h"

#define REDIS_MARK_BEHIND  ":impound-sent" /* the list's name, and this, is the marks' key */
#define REDIS_MARK_KEPT_MS "604800000"     /* 7 d */

/* Functions of scripts; `marks` is the key. */
#define REDIS_MARK_ADD                                                                             \
    "local function mark_add(marks, element, mark, first) "                                        \
    "  local hash = redis.sha1hex(element) "                                                       \
    "  local others = redis.call('HGET', marks, hash) "                                            \
    "  if others and first then mark = mark .. ',' .. others "                                     \
    "  elseif others then mark = others .. ',' .. mark end "                                       \
    "  redis.call('HSET', marks, hash, mark) "                                                     \
    "  redis.call('PEXPIRE', marks, " REDIS_MARK_KEPT_MS ") "                                      \
    "end "
/* → "|MARK", or "". */
#define REDIS_MARK_TAKE                                                                            \
    "local function mark_take(marks, element) "                                                    \
    "  local hash = redis.sha1hex(element) "                                                       \
    "  local mark = redis.call('HGET', marks, hash) "                                              \
    "  if not mark then return '' end "                                                            \
    "  local first, rest = string.match(mark, '^([^,]*),?(.*)$') "                                 \
    "  if rest == '' then redis.call('HDEL', marks, hash) "                                        \
    "  else redis.call('HSET', marks, hash, rest) end "                                            \
    "  return '|' .. first "                                                                       \
    "end "
/* Puts the mark of a tag beside the list again. */
#define REDIS_MARK_GIVE_BACK                                                                       \
    REDIS_MARK_ADD                                                                                 \
    "local function mark_give_back(marks, element, tag) "                                          \
    "  local mark = string.match(tag, '|(.*)$') "                                                  \
    "  if mark then mark_add(marks, element, mark, true) end "                                     \
    "end "

/* The mark that an item's headers make, in the arena; empty: none. */
struct bytes redis_mark_of(const struct sink_item *item, struct arena *arena);
/* The headers that a tag's mark stands for: 2, or 0; in the arena. *tag loses it. */
size_t redis_mark_headers(struct bytes *tag, struct arena *arena, const struct rule_header **out);

#endif
