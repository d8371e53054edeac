/* ages: counts the letters of a DLQ by the time of their death, in spans that grow with age.
 *
 * Young letters are counted by the second, those older than AGES_FINE_MS by the minute, those older
 * than AGES_COARSE_MS by the hour, so that the histogram is precise for recent letters and the
 * table stays small whatever the depth is. Spans are sorted by their start and never overlap. They
 * are stored in the SQLite file, so that a start need not count letters. */
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
    int64_t oldest_ms; /* the oldest letter added since the span was last empty */
    uint64_t count;
    bool changed; /* since the last fold wrote it */
};

struct ages {
    struct ages_span *spans;
    size_t count, cap;
    size_t merge_at; /* spans are merged when there are this many */
    bool merged;     /* since the last fold wrote them: the spans in the file are obsolete */
};

void ages_free(struct ages *ages);
void ages_add(struct ages *ages, int64_t dead_ms);
/* Appends a span that was loaded when the store is opened. False: it is empty or overlaps the
 * previous span, and was not added. */
bool ages_restore(struct ages *ages, const struct ages_span *span);
/* False: no letter with this time of death is counted. */
bool ages_remove(struct ages *ages, int64_t dead_ms);
/* WALL_NEVER if there are none. As precise as the span of the oldest letter. */
struct wall ages_oldest(const struct ages *ages);
/* The number of letters that died after `since`. */
uint64_t ages_after(const struct ages *ages, int64_t since_ms);

#endif
