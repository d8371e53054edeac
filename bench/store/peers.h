/* peers: what the store is compared with, in the same run and on the same disk. */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

#include <stddef.h>
#include <stdint.h>

/* Letters a second: `count` letters of `size` bytes appended in groups to files that were written
 * before, each group synced. */
double peers_raw(const char *dir, size_t size, uint64_t count, size_t group);
/* The raw files are made before the first measurement, and removed after the last. */
void peers_raw_prepare(const char *dir);
void peers_raw_remove(const char *dir);

/* SQLite alone: rows with the store's own columns and indexes, in WAL mode with full syncs. */
struct plain;
struct plain *peers_sqlite_open(const char *dir);
/* Letters a second; they are numbered from `first`, and behind all that are there. */
double peers_sqlite(struct plain *plain, uint64_t first, uint64_t count, size_t group);
void peers_sqlite_remove(struct plain *plain); /* with its file */

#endif
