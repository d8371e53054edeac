/* dlqs: the counters of every DLQ, kept current with each change and read without counting.
 *
 * What is in a DLQ's depth is counted by category, by reason and by age; what ever arrived is
 * counted by category and reason. Letters are also counted by state: pending_review is the depth
 * less those that are replaying. The store calls dlqs_change for every change of a message, so
 * that these counters equal what a recount of the letters would give. */
#ifndef STORE_DLQS_H
#define STORE_DLQS_H

#include "base/arena.h"
#include "port/letters.h"
#include "store/ages.h"
#include "store/entry.h"

enum { DLQS_ARRIVAL_SECONDS = 60 };

/* COUNT_CATEGORY and COUNT_REASON have one name, COUNT_ARRIVED has two, all others have none. */
enum count_kind {
    COUNT_TOTAL,
    COUNT_SPILLED,
    COUNT_CATEGORY,
    COUNT_REASON,
    COUNT_ARRIVED,
    COUNT_REPLAYING,
    COUNT_RESOLVED,
    COUNT_DISCARDED,
    COUNT_KINDS
};

struct dlq_count {
    struct map_node node;
    struct dlq_count *next; /* of the same DLQ */
    enum count_kind kind;
    const struct name *category, *reason; /* NULL: none */
    uint64_t count;
};

struct dlq {
    struct map_node node;
    const struct name *name;
    uint64_t depth;
    struct dlq_count *counts;
    struct map by_key;
    struct ages ages;
    uint64_t grouped; /* when the counters were loaded: letters of its depth in groups */
    struct dlq_arrivals {
        int64_t second;
        uint64_t count;
    } arrivals[DLQS_ARRIVAL_SECONDS];
    bool changed; /* since the fold last wrote its counts */
};

struct dlqs {
    struct map map;
    bool inexact; /* a letter left that was not counted: the counters in the file were wrong */
};

/* Its depth, counted in two other ways, and a part of it. */
struct dlqs_sums {
    uint64_t by_reason, by_age;
    uint64_t replaying; /* no more than the depth */
};

void dlqs_free(struct dlqs *dlqs);
/* NULL on either side: it was not held before, or is not held any more. */
void dlqs_change(struct dlqs *dlqs, const struct facts *before, const struct facts *after);
/* True when it counts in the depth of its DLQ. */
bool dlqs_counts(const struct facts *facts);
/* True when the change brings it there anew: it died, died again, or was moved. What a verdict
 * discards never waits for people, and is no arrival. */
bool dlqs_arrived(const struct facts *before, const struct facts *after);
/* Counters of groups do not match either. */
void dlqs_note_inexact(struct dlqs *dlqs);
void dlqs_spilled(struct dlqs *dlqs, const struct name *dlq);
uint64_t dlqs_depth(const struct dlqs *dlqs, const struct name *dlq);
enum status dlqs_read(const struct dlqs *dlqs, const struct name *dlq, struct wall now,
                      struct arena *arena, struct letters_dlq *out);
/* The reasons of letters that count in some depth and begin with `prefix`, each once, at most
 * `max`; returns max + 1 when there are more. They live as long as the names. */
size_t dlqs_reasons(const struct dlqs *dlqs, struct bytes prefix, struct bytes *out, size_t max);
size_t dlqs_names(const struct dlqs *dlqs, struct arena *arena, struct bytes **out);

/* For the store that loads and writes them: the count of that key, made if need be. */
struct dlq *dlqs_get(struct dlqs *dlqs, const struct name *name);
uint64_t *dlqs_count(struct dlq *dlq, enum count_kind kind, const struct name *category,
                     const struct name *reason);
struct dlqs_sums dlqs_sums(const struct dlq *dlq);
const char *dlqs_kind_text(enum count_kind kind);
bool dlqs_kind_parse(struct bytes text, enum count_kind *out);

#endif
