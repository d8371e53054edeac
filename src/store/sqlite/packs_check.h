/* packs_check: for doctor: can every row's bytes be read? */
#ifndef STORE_PACKS_CHECK_H
#define STORE_PACKS_CHECK_H

#include "store/sqlite/packs.h"

/* Calls `unreadable` with each row whose envelope or body is not whole, and why. */
enum status packs_check(struct packs *packs, struct database *database,
                        void (*unreadable)(void *arg, uint64_t seq, const char *why), void *arg,
                        struct err *err);

#endif
