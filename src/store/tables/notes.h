/* notes: the notes in memory. A store with an SQLite file has here only notes that are not folded
 * yet, and a dropped note hides its row until the fold; a store without a file has all notes here.
 *
 * The tables have no lock and no clock: the store that owns them does. */
#ifndef STORE_TABLES_NOTES_H
#define STORE_TABLES_NOTES_H

#include "base/arena.h"
#include "base/containers/list.h"
#include "base/containers/map.h"
#include "port/letters.h"
#include "store/tables/journal_record.h"

struct keep {
    struct map_node node; /* key: space and name */
    struct list change;   /* in the list that the next fold writes */
    uint32_t queue;       /* 0: no queue */
    char space[STORE_SPACE_SIZE];
    struct bytes name; /* owned */
    struct kept value; /* blob NULL: dropped */
    struct wall expires;
    bool changed;     /* in the list `change` */
    uint32_t folding; /* number of folds that hold it, waiting or in progress */
};

struct notes {
    struct map map;
    struct list changes;
    size_t change_count;
    size_t changed_bytes; /* size of the values that the next fold writes */
    size_t bytes;         /* size of all values */
    bool file;            /* the store has an SQLite file */
};

void notes_init(struct notes *keeps);
void notes_free(struct notes *keeps);

/* Encodes a STORE_KEEP as a journal record, and decodes it; false if the record is invalid. */
struct blob *notes_encode(uint32_t queue, const struct store_keep *keep);
struct notes_decoded {
    struct store_keep keep;
    char space[STORE_SPACE_SIZE]; /* storage for keep.space */
};
bool notes_decode(const struct journal_record *record, struct notes_decoded *out);
/* The value is a slice of the blob, to which a reference is added. */
void notes_set(struct notes *keeps, uint32_t queue, const struct store_keep *keep,
               struct blob *blob);
/* Removes the note from memory if the file has its current value and no fold needs it. */
void notes_release(struct notes *keeps, struct keep *keep);

/* ---- one name ---- */

enum { NOTES_QUEUES_MAX = 64 };

struct notes_found {
    /* Queues for which the note was found in memory, dropped notes included. */
    uint32_t queues[NOTES_QUEUES_MAX];
    size_t queue_count;
    size_t count; /* number of queues that have the note */
    struct bytes value;
};

/* Finds the note in `queue`, or in any queue if it is 0. The value is copied into the arena. */
void notes_find(const struct notes *keeps, uint32_t queue, const char *space, struct bytes name,
                struct wall now, struct arena *arena, struct notes_found *out);
/* Adds a row of the file, unless memory has a newer note of its queue. */
void notes_add_row(struct notes_found *found, uint32_t queue, struct bytes value,
                   struct arena *arena);
enum status notes_answer(const struct notes_found *found, struct bytes name, struct bytes *value,
                         struct err *err);

/* ---- many names ---- */

struct notes_range {
    const char *space;
    struct bytes from;  /* inclusive */
    struct bytes until; /* exclusive; ptr NULL: no upper bound */
    bool descending;
    struct wall now;
};

struct notes_row {
    struct bytes name, value;
    uint32_t queue;
    bool hidden; /* dropped or expired: hides the row in the file */
};

/* The range of letters_notes; the texts may be in the arena. */
struct notes_range notes_range(const char *space, struct bytes prefix, struct bytes after,
                               bool descending, struct arena *arena);
/* The notes in the range in its order, up to `limit` that are not hidden, as copies. */
size_t notes_list(const struct notes *keeps, const struct notes_range *range, size_t limit,
                  struct arena *arena, struct notes_row **out);
/* < 0: `a` comes before `b` in the range's order; 0: same name and same queue. */
int notes_compare(const struct notes_range *range, const struct notes_row *a,
                  const struct notes_row *b);

#endif
