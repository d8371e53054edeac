/* redis_entry: the commands that put an item into a list or a stream. Pure. */
#ifndef BROKER_REDIS_ENTRY_H
#define BROKER_REDIS_ENTRY_H

#include "base/arena.h"
#include "port/sink.h"

enum { REDIS_ENTRY_WORDS_MAX = 1024 }; /* of a command */

struct redis_entry {
    struct bytes words[REDIS_ENTRY_WORDS_MAX];
    size_t count;
    bool overflow; /* it has more fields than words; the entry is incomplete */
};

/* Appended to a list, whose readers take from the right. An item that returns to its list leaves a
 * mark (redis_mark.h). Texts are borrowed, or live in the arena (heap). */
void redis_entry_push(struct redis_entry *entry, struct bytes list, const struct sink_item *item,
                      struct arena *arena);
/* At the end of a stream: as redis_message.h reads it, or, when it goes back, as it came. */
void redis_entry_append(struct redis_entry *entry, struct bytes stream,
                        const struct sink_item *item, struct arena *arena);
/* Back to the list or stream that it came from, or to the queue of asynq: its source then is
 * {"kind":"redis","asynq":QUEUE,"id":ID,"task":the task's message without its payload, base64}.
 * INVALID: its source names none of them, or it has too many fields for one command. */
enum status redis_entry_return(struct redis_entry *entry, const struct sink_item *item,
                               struct arena *arena, struct err *err);

#endif
