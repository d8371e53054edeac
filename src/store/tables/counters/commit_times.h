/* commit_times: the histogram of commit durations, with the buckets of the store port. */
#ifndef STORE_TABLES_COMMIT_TIMES_H
#define STORE_TABLES_COMMIT_TIMES_H

#include "port/store.h"

void commit_times_note_commit(struct store_health *health, double seconds);

#endif
