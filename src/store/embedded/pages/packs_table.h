/* packs_table: which packs there are, and what the transaction that is under way did to them. */
#ifndef STORE_EMBEDDED_PAGES_PACKS_TABLE_H
#define STORE_EMBEDDED_PAGES_PACKS_TABLE_H

#include <pthread.h>

#include "store/embedded/pages/packs.h"

struct packs {
    struct packs_options options;
    char *dir;
    pthread_mutex_t lock; /* guards the array, and who reads what */
    struct pack **all;    /* by number */
    size_t count;

    struct pack *current; /* what is added goes here; NULL: into a new one */
    uint64_t last;        /* the highest number that was ever given */
    uint64_t settled;     /* number of the last pack that a committed transaction knows */
    uint64_t settled_end; /* and where it ended */
    struct buf pending;   /* put and not yet written: the end of the current pack; in pages */
    bool written;         /* the current pack is to be synced */
    bool made;            /* the folder is to be synced */
    enum status status;   /* of what was put since the last transaction */
    struct err err;
};

struct pack *packs_table_find(const struct packs *packs, uint64_t number); /* NULL: none */
void packs_table_add(struct packs *packs, struct pack *pack); /* its number is the highest */
/* Out of the array; freed at once, or by its last reader. */
void packs_table_leave(struct packs *packs, size_t at);
/* What is there now is what a committed transaction knows. */
void packs_table_settle(struct packs *packs);

#endif
