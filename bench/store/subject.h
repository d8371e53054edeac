/* subject: the store under measurement, on the real disk with its own threads. */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include "app/bench_letters.h"

struct subject {
    struct store *store;
    uint32_t queue;
    char path[4096];
};

struct subject *subject_open(const char *dir, const char *name);
void subject_close(struct subject *subject);
void subject_remove(const char *dir, const char *name);
struct instant subject_now(void);
struct wall subject_wall(void);

/* Letters a second, each commit durable: `depth` commits of `group` letters are under way at once.
 */
double subject_burst(struct subject *subject, uint64_t first, uint64_t count, size_t group,
                     size_t depth);
/* Submits and waits for the answer, which must be OK. */
void subject_commit(struct subject *subject, struct store_commit *commit);
/* Waits until everything is in the file; returns the most that ever waited. */
uint64_t subject_drain(struct subject *subject);

#endif
