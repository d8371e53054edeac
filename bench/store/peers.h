/* peers: what the store is compared with, in the same run and on the same disk. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include "app/bench_raw.h"

/* The raw file is made before the first measurement. */
struct bench_raw *peers_raw_new(const char *dir);
/* Letters a second: `count` letters of `size` bytes appended in groups, each group synced. */
double peers_raw(struct bench_raw *raw, size_t size, uint64_t count, size_t group);

/* SQLite alone: rows with the store's own columns and indexes, in WAL mode with full syncs. */
struct plain;
struct plain *peers_sqlite_open(const char *dir);
/* Letters a second; they are numbered from `first`, and behind all that are there. */
double peers_sqlite(struct plain *plain, uint64_t first, uint64_t count, size_t group);
void peers_sqlite_remove(struct plain *plain); /* with its file */

#endif
