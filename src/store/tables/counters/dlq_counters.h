/* dlq_counters: the counters of every DLQ, updated with each change, so that reading them is cheap.
 *
 * Letters in the depth of a DLQ are counted by category, by reason and by age; letters that ever
 * arrived are counted by category and reason. Letters are also counted by state: pending_review is
 * the depth minus the replaying letters. The store calls dlq_counters_change for every change of a
 * message, so that the counters always equal a recount of the letters. */
#ifndef STORE_TABLES_DLQ_COUNTERS_H
#define STORE_TABLES_DLQ_COUNTERS_H

#include "base/arena.h"
#include "port/letters.h"
#include "store/tables/counters/ages.h"
#include "store/tables/ready/entry.h"

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
    struct dlq_count *next; /* next count of the same DLQ */
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
    uint64_t grouped; /* when the counters were loaded: the letters in depth that groups count */
    struct dlq_arrivals {
        int64_t second;
        uint64_t count;
    } arrivals[DLQ_COUNTERS_ARRIVAL_SECONDS];
    bool changed; /* since the last fold wrote its counts */
};

struct dlq_counters {
    struct map map;
    /* A letter was removed that was not counted: the counters in the file were wrong. */
    bool inexact;
};

/* The depth of a DLQ from two other sets of counters, and the part of it that is replaying. */
struct dlq_counters_sums {
    uint64_t by_reason, by_age;
    uint64_t replaying; /* at most the depth */
};

void dlq_counters_free(struct dlq_counters *dlqs);
/* `before` NULL: the message is new. `after` NULL: it is removed. */
void dlq_counters_change(struct dlq_counters *dlqs, const struct entry_facts *before,
                         const struct entry_facts *after);
/* True if the message counts in the depth of its DLQ. */
bool dlq_counters_counts(const struct entry_facts *facts);
/* True if the change is a new arrival in the DLQ: the message died, died again, or was moved. A
 * message that is discarded when it dies never waits for review, and is not an arrival. */
bool dlq_counters_arrived(const struct entry_facts *before, const struct entry_facts *after);
/* Records that the counters of groups do not match the letters. */
void dlq_counters_note_inexact(struct dlq_counters *dlqs);
void dlq_counters_spilled(struct dlq_counters *dlqs, const struct name *dlq);
uint64_t dlq_counters_depth(const struct dlq_counters *dlqs, const struct name *dlq);
enum status dlq_counters_read(const struct dlq_counters *dlqs, const struct name *dlq,
                              struct wall now, struct arena *arena, struct letters_dlq *out);
/* The distinct reasons that start with `prefix`, of letters in any depth, at most `max`; returns
 * max + 1 if there are more. They live as long as the names. */
size_t dlq_counters_reasons(const struct dlq_counters *dlqs, struct bytes prefix, struct bytes *out,
                            size_t max);
size_t dlq_counters_names(const struct dlq_counters *dlqs, struct arena *arena, struct bytes **out);

/* For loading and writing the counters: the count with that key, created if needed. */
struct dlq *dlq_counters_get(struct dlq_counters *dlqs, const struct name *name);
uint64_t *dlq_counters_count(struct dlq *dlq, enum count_kind kind, const struct name *category,
                             const struct name *reason);
struct dlq_counters_sums dlq_counters_sums(const struct dlq *dlq);
const char *dlq_counters_kind_text(enum count_kind kind);
bool dlq_counters_kind_parse(struct bytes text, enum count_kind *out);

#endif
