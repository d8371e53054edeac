/* dlqs: the counters of every DLQ, kept current with each change and read without counting.
 *
 * What is in a DLQ's depth is counted by category, by reason and by age; what ever arrived is
 * counted by category and reason. Letters are also counted by state: pending_review is the depth
 * less those that are replaying. The store calls dlq_counters_change for every change of a message,
 * so that these counters equal what a recount of the letters would give. */
#ifndef STORE_TABLES_DLQ_COUNTERS_H
#define STORE_TABLES_DLQ_COUNTERS_H

#include "base/arena.h"
#include "port/letters.h"
#include "store/tables/ages.h"
#include "store/tables/entry.h"

enum { DLQ_COUNTERS_ARRIVAL_SECONDS = 60 };

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
    } arrivals[DLQ_COUNTERS_ARRIVAL_SECONDS];
    bool changed; /* since the fold last wrote its counts */
};

struct dlq_counters {
    struct map map;
    bool inexact; /* a letter left that was not counted: the counters in the file were wrong */
};

/* Its depth, counted in two other ways, and a part of it. */
struct dlq_counters_sums {
    uint64_t by_reason, by_age;
    uint64_t replaying; /* no more than the depth */
};

void dlq_counters_free(struct dlq_counters *dlqs);
/* NULL on either side: it was not held before, or is not held any more. */
void dlq_counters_change(struct dlq_counters *dlqs, const struct entry_facts *before,
                         const struct entry_facts *after);
/* True when it counts in the depth of its DLQ. */
bool dlq_counters_counts(const struct entry_facts *facts);
/* True when the change brings it there anew: it died, died again, or was moved. What a verdict
 * discards never waits for people, and is no arrival. */
bool dlq_counters_arrived(const struct entry_facts *before, const struct entry_facts *after);
/* Counters of groups do not match either. */
void dlq_counters_note_inexact(struct dlq_counters *dlqs);
void dlq_counters_spilled(struct dlq_counters *dlqs, const struct name *dlq);
uint64_t dlq_counters_depth(const struct dlq_counters *dlqs, const struct name *dlq);
enum status dlq_counters_read(const struct dlq_counters *dlqs, const struct name *dlq,
                              struct wall now, struct arena *arena, struct letters_dlq *out);
/* The reasons of letters that count in some depth and begin with `prefix`, each once, at most
 * `max`; returns max + 1 when there are more. They live as long as the names. */
size_t dlq_counters_reasons(const struct dlq_counters *dlqs, struct bytes prefix, struct bytes *out,
                            size_t max);
size_t dlq_counters_names(const struct dlq_counters *dlqs, struct arena *arena, struct bytes **out);

/* For the store that loads and writes them: the count of that key, made if need be. */
struct dlq *dlq_counters_get(struct dlq_counters *dlqs, const struct name *name);
uint64_t *dlq_counters_count(struct dlq *dlq, enum count_kind kind, const struct name *category,
                             const struct name *reason);
struct dlq_counters_sums dlq_counters_sums(const struct dlq *dlq);
const char *dlq_counters_kind_text(enum count_kind kind);
bool dlq_counters_kind_parse(struct bytes text, enum count_kind *out);

#endif
