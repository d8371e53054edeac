/* keeps: the texts that are kept beside the messages, those that memory knows. A store with a file
 * behind it holds here what is not folded yet, and a dropped one hides its row until then; a store
 * without one holds them all.
 *
 * The tables have no lock and no clock: their store has. */
#ifndef STORE_TABLES_NOTES_H
#define STORE_TABLES_NOTES_H

#include "base/arena.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "port/letters.h"
#include "store/tables/journal_record.h"

struct keep {
    struct map_node node; /* by space and name */
    struct list change;   /* in the list that the next fold writes */
    uint32_t queue;       /* 0: of no queue */
    char space[STORE_SPACE_SIZE];
    struct bytes name; /* owned */
    struct kept value; /* blob NULL: dropped */
    struct wall expires;
    bool changed;     /* in the list */
    uint32_t folding; /* folds that hold it, waiting or under way */
};

struct notes {
    struct map map;
    struct list changes;
    size_t change_count;
    size_t changed_bytes; /* of the values that the next fold writes */
    size_t bytes;         /* of all values */
    bool file;            /* there is a file behind */
};

void notes_init(struct notes *keeps);
void notes_free(struct notes *keeps);

/* A STORE_KEEP as a record of the journal, and back; false when it is none. */
struct blob *notes_encode(uint32_t queue, const struct store_keep *keep);
struct notes_decoded {
    struct store_keep keep;
    char space[STORE_SPACE_SIZE]; /* that it points at */
};
bool notes_decode(const struct journal_record *record, struct notes_decoded *out);
/* The value is a slice of the blob, which is shared. */
void notes_set(struct notes *keeps, uint32_t queue, const struct store_keep *keep,
               struct blob *blob);
/* Out of memory when the file has it as it is and no fold needs it. */
void notes_release(struct notes *keeps, struct keep *keep);

/* ---- one name ---- */

enum { NOTES_QUEUES_MAX = 64 };

struct notes_found {
    uint32_t queues[NOTES_QUEUES_MAX]; /* those for which memory speaks */
    size_t queue_count;
    size_t count; /* of those that keep it */
    struct bytes value;
};

/* In `queue`, or in any when it is 0. The value is copied into the arena. */
void notes_find(const struct notes *keeps, uint32_t queue, const char *space, struct bytes name,
                struct wall now, struct arena *arena, struct notes_found *out);
/* A row of the file, unless memory speaks for its queue. */
void notes_add_row(struct notes_found *found, uint32_t queue, struct bytes value,
                   struct arena *arena);
enum status notes_answer(const struct notes_found *found, struct bytes name, struct bytes *value,
                         struct err *err);

/* ---- many names ---- */

struct notes_range {
    const char *space;
    struct bytes from;  /* included */
    struct bytes until; /* not included; ptr NULL: to the end */
    bool descending;
    struct wall now;
};

struct notes_row {
    struct bytes name, value;
    uint32_t queue;
    bool hidden; /* it is dropped or expired, whatever the file says */
};

/* As kept_list says; the texts may be in the arena. */
struct notes_range notes_range(const char *space, struct bytes prefix, struct bytes after,
                               bool descending, struct arena *arena);
/* Those of the range in its order, up to `limit` that are not hidden. Copies. */
size_t notes_list(const struct notes *keeps, const struct notes_range *range, size_t limit,
                  struct arena *arena, struct notes_row **out);
/* < 0: `a` comes before `b` in the range's order; 0: the same queue keeps the same name. */
int notes_compare(const struct notes_range *range, const struct notes_row *a,
                  const struct notes_row *b);

#endif
