/* ages: how many letters died when, in spans that grow with age.
 *
 * Young letters are counted by the second, those older than AGES_FINE_MS by the minute, those older
 * than AGES_COARSE_MS by the hour, so that the histogram is exact where people look closely and the
 * table stays small whatever the depth is. Spans are sorted by their start and never overlap. They
 * are kept in the store's file, so that no start has to count letters. */
#ifndef STORE_TABLES_AGES_H
#define STORE_TABLES_AGES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/instant.h"

enum {
    AGES_FINE_MS = 15 * 60 * 1000,
    AGES_FINE_SPAN_MS = 1000,
    AGES_COARSE_MS = 25 * 60 * 60 * 1000,
    AGES_COARSE_SPAN_MS = 60 * 1000,
    AGES_OLD_SPAN_MS = 60 * 60 * 1000,
};

struct ages_span {
    int64_t start_ms, end_ms;
    int64_t oldest_ms; /* of those that were ever added while the span was not empty */
    uint64_t count;
    bool changed; /* since the fold last wrote it */
};

struct ages {
    struct ages_span *spans;
    size_t count, cap;
    size_t merge_at; /* spans are merged when there are this many */
    bool merged;     /* since the fold last wrote them: those in the file do not count any more */
};

void ages_free(struct ages *ages);
void ages_add(struct ages *ages, int64_t dead_ms);
/* A whole span, when a store is opened, behind those before. False: it is empty or overlaps the one
 * before, and was not added. */
bool ages_restore(struct ages *ages, const struct ages_span *span);
/* False: no letter that died then is counted. */
bool ages_remove(struct ages *ages, int64_t dead_ms);
/* WALL_NEVER when it is empty. Exact to the span that it died in. */
struct wall ages_oldest(const struct ages *ages);
/* Those that died after `since`. */
uint64_t ages_after(const struct ages *ages, int64_t since_ms);

#endif
