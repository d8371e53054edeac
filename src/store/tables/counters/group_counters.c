#include "store/tables/counters/group_counters.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/tables/counters/dlq_counters.h"

void group_counters_init(struct group_counters *groups) {
    *groups = (struct group_counters){0};
    list_init(&groups->changes);
}

static void free_group(struct map_node *node) {
    free(CONTAINER_OF(node, struct dlq_group, node));
}

void group_counters_free(struct group_counters *groups) {
    map_drain(&groups->map, free_group);
}

static uint64_t hash_of(const struct name *dlq, uint64_t fingerprint) {
    return fingerprint + dlq->node.hash;
}

struct dlq_group *group_counters_find(const struct group_counters *groups, const struct name *dlq,
                                      uint64_t fingerprint) {
    uint64_t hash = hash_of(dlq, fingerprint);
    for (struct map_node *node = map_first(&groups->map, hash); node; node = map_next(node)) {
        struct dlq_group *group = CONTAINER_OF(node, struct dlq_group, node);
        if (group->dlq == dlq && group->fingerprint == fingerprint)
            return group;
    }
    return NULL;
}

static struct dlq_group *get(struct group_counters *groups, const struct name *dlq,
                             uint64_t fingerprint) {
    struct dlq_group *group = group_counters_find(groups, dlq, fingerprint);
    if (group)
        return group;
    group = memory_new(sizeof *group);
    group->dlq = dlq;
    group->fingerprint = fingerprint;
    list_init(&group->change);
    map_insert(&groups->map, &group->node, hash_of(dlq, fingerprint));
    return group;
}

static struct dlq_group *change(struct group_counters *groups, const struct entry_facts *facts) {
    struct dlq_group *group = get(groups, facts->dlq, facts->fingerprint);
    if (list_empty(&group->change)) {
        list_push_back(&groups->changes, &group->change);
        groups->change_count++;
    }
    return group;
}

static void arrive(struct dlq_group *group, const struct entry_facts *facts, uint64_t seq) {
    group->total++;
    if (group->first_seen.ms == WALL_NEVER.ms || facts->dead_at.ms < group->first_seen.ms)
        group->first_seen = facts->dead_at;
    if (facts->dead_at.ms < group->last_seen.ms)
        return;
    group->last_seen = facts->dead_at;
    group->sample = seq;
}

static bool has_group(const struct entry_facts *facts) {
    return facts && facts->fingerprint != 0;
}

/* A late answer may change the cause, and so the fingerprint, of a letter that died before. */
static bool joined(const struct entry_facts *before, const struct entry_facts *after) {
    return dlq_counters_arrived(before, after) ||
           (dlq_counters_counts(after) && before->fingerprint != after->fingerprint);
}

void group_counters_change(struct group_counters *groups, const struct entry_facts *before,
                           const struct entry_facts *after, uint64_t seq) {
    if (has_group(before) && dlq_counters_counts(before)) {
        struct dlq_group *group = change(groups, before);
        if (group->count > 0)
            group->count--;
        else
            groups->inexact = true;
    }
    if (has_group(after) && dlq_counters_counts(after))
        change(groups, after)->count++;
    if (has_group(after) && joined(before, after))
        arrive(change(groups, after), after, seq);
}

void group_counters_restore(struct group_counters *groups, const struct name *dlq,
                            const struct letters_group *known) {
    struct dlq_group *group = get(groups, dlq, known->fingerprint);
    group->count = known->count;
    group->total = known->total;
    group->first_seen = known->first_seen;
    group->last_seen = known->last_seen;
    group->sample = known->sample;
}

/* ---- reading ---- */

struct group_reading {
    const struct name *dlq;
    struct letters_group *out;
    size_t count;
    struct arena *arena;
};

static void read_one(struct map_node *node, void *arg) {
    struct group_reading *reading = arg;
    const struct dlq_group *group = CONTAINER_OF(node, struct dlq_group, node);
    if (reading->dlq && reading->dlq != group->dlq)
        return;
    reading->out[reading->count++] = (struct letters_group){
        .fingerprint = group->fingerprint,
        .dlq = arena_dup(reading->arena, group->dlq->text),
        .count = group->count,
        .total = group->total,
        .first_seen = group->first_seen,
        .last_seen = group->last_seen,
        .sample = group->sample,
    };
}

static int most_first(const void *a, const void *b) {
    const struct letters_group *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    if (left->last_seen.ms != right->last_seen.ms)
        return left->last_seen.ms > right->last_seen.ms ? -1 : 1;
    return left->fingerprint < right->fingerprint ? -1 : left->fingerprint > right->fingerprint;
}

size_t group_counters_read(const struct group_counters *groups, const struct name *dlq,
                           struct arena *arena, struct letters_group **out) {
    struct group_reading reading = {.dlq = dlq, .arena = arena};
    reading.out = arena_alloc(arena, (groups->map.count + 1) * sizeof **out);
    map_each(&groups->map, read_one, &reading);
    qsort(reading.out, reading.count, sizeof *reading.out, most_first);
    *out = reading.out;
    return reading.count;
}
