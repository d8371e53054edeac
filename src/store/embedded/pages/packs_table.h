/* packs_table: the packs of a store, and their changes in the current transaction. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_TABLE_H
#define STORE_EMBEDDED_PAGES_PACKS_TABLE_H

#include <pthread.h>

#include "store/embedded/pages/packs.h"

struct packs {
    struct packs_options options;
    char *dir;
    pthread_mutex_t lock; /* guards the array and the counts of readers */
    struct pack **all;    /* sorted by number */
    size_t count;

    struct pack *current; /* the pack to which records are appended; NULL: a new one is created */
    uint64_t last;        /* the highest number ever assigned */
    uint64_t settled;     /* number of the last pack in the last committed transaction */
    uint64_t settled_end; /* and its end in that transaction */
    struct buf pending;   /* put and not yet written: the end of the current pack, in whole pages */
    bool written;         /* the current pack must be synced */
    bool made;            /* the directory must be synced */
    enum status status;   /* the first error since the last transaction */
    struct err err;
};

struct pack *packs_table_find(const struct packs *packs, uint64_t number); /* NULL: none */
void packs_table_add(struct packs *packs, struct pack *pack); /* its number must be the highest */
/* Removes the pack from the array; it is freed at once, or by its last reader. */
void packs_table_leave(struct packs *packs, size_t at);
/* Records the current state as that of a committed transaction. */
void packs_table_settle(struct packs *packs);

#endif
