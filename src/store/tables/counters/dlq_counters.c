#include "store/tables/counters/dlq_counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/decide.h"
#include "core/lifecycle.h"

static const char *const kind_words[COUNT_KINDS] = {
    [COUNT_TOTAL] = "total",       [COUNT_SPILLED] = "spilled",     [COUNT_CATEGORY] = "category",
    [COUNT_REASON] = "reason",     [COUNT_ARRIVED] = "arrived",     [COUNT_REPLAYING] = "replaying",
    [COUNT_RESOLVED] = "resolved", [COUNT_DISCARDED] = "discarded",
};

const char *dlq_counters_kind_text(enum count_kind kind) {
    return kind_words[kind];
}

bool dlq_counters_kind_parse(struct bytes text, enum count_kind *out) {
    for (int kind = 0; kind < COUNT_KINDS; kind++) {
        if (bytes_is(text, kind_words[kind])) {
            *out = (enum count_kind)kind;
            return true;
        }
    }
    return false;
}

static uint64_t name_hash(const struct name *name) {
    return name ? name->node.hash : 0;
}

static struct dlq *find(const struct dlq_counters *dlqs, const struct name *name) {
    if (!name)
        return NULL;
    for (struct map_node *node = map_first(&dlqs->map, name->node.hash); node;
         node = map_next(node)) {
        struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
        if (dlq->name == name)
            return dlq;
    }
    return NULL;
}

struct dlq *dlq_counters_get(struct dlq_counters *dlqs, const struct name *name) {
    struct dlq *dlq = find(dlqs, name);
    if (dlq)
        return dlq;
    dlq = memory_new(sizeof *dlq);
    dlq->name = name;
    map_insert(&dlqs->map, &dlq->node, name->node.hash);
    return dlq;
}

uint64_t *dlq_counters_count(struct dlq *dlq, enum count_kind kind, const struct name *category,
                             const struct name *reason) {
    uint64_t hash = name_hash(category) * 31 + name_hash(reason) * 17 + (uint64_t)kind;
    for (struct map_node *node = map_first(&dlq->by_key, hash); node; node = map_next(node)) {
        struct dlq_count *count = CONTAINER_OF(node, struct dlq_count, node);
        if (count->kind == kind && count->category == category && count->reason == reason)
            return &count->count;
    }
    struct dlq_count *count = memory_new(sizeof *count);
    *count = (struct dlq_count){
        .kind = kind, .category = category, .reason = reason, .next = dlq->counts};
    dlq->counts = count;
    map_insert(&dlq->by_key, &count->node, hash);
    return &count->count;
}

static void free_dlq(struct map_node *node) {
    struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    for (struct dlq_count *count = dlq->counts, *next; count; count = next) {
        next = count->next;
        free(count);
    }
    map_free(&dlq->by_key);
    ages_free(&dlq->ages);
    free(dlq);
}

void dlq_counters_free(struct dlq_counters *dlqs) {
    map_drain(&dlqs->map, free_dlq);
}

/* The counters were read from a file. If they do not match its letters they stay at zero instead of
 * wrapping around, and the letters are still served. */
static void decrease(struct dlq_counters *dlqs, uint64_t *count) {
    if (*count > 0)
        --*count;
    else
        dlq_counters_note_inexact(dlqs);
}

void dlq_counters_note_inexact(struct dlq_counters *dlqs) {
    if (!dlqs->inexact)
        log_error("the counters of DLQs in the store do not match its letters; depths may be wrong "
                  "until `impound doctor --repair` counts anew");
    dlqs->inexact = true;
}

static void leave(struct dlq_counters *dlqs, const struct entry_facts *facts) {
    struct dlq *dlq = dlq_counters_get(dlqs, facts->dlq);
    decrease(dlqs, &dlq->depth);
    decrease(dlqs, dlq_counters_count(dlq, COUNT_CATEGORY, facts->category, NULL));
    decrease(dlqs, dlq_counters_count(dlq, COUNT_REASON, NULL, facts->reason));
    if (!ages_remove(&dlq->ages, facts->dead_at.ms))
        dlq_counters_note_inexact(dlqs);
    dlq->changed = true;
}

static void enter(struct dlq_counters *dlqs, const struct entry_facts *facts) {
    struct dlq *dlq = dlq_counters_get(dlqs, facts->dlq);
    dlq->depth++;
    ++*dlq_counters_count(dlq, COUNT_CATEGORY, facts->category, NULL);
    ++*dlq_counters_count(dlq, COUNT_REASON, NULL, facts->reason);
    ages_add(&dlq->ages, facts->dead_at.ms);
    dlq->changed = true;
}

static void arrive(struct dlq_counters *dlqs, const struct entry_facts *facts) {
    struct dlq *dlq = dlq_counters_get(dlqs, facts->dlq);
    ++*dlq_counters_count(dlq, COUNT_TOTAL, NULL, NULL);
    ++*dlq_counters_count(dlq, COUNT_ARRIVED, facts->category, facts->reason);
    int64_t second = facts->dead_at.ms / 1000;
    struct dlq_arrivals *slot = &dlq->arrivals[(uint64_t)second % DLQ_COUNTERS_ARRIVAL_SECONDS];
    if (slot->second < second)
        *slot = (struct dlq_arrivals){.second = second};
    if (slot->second == second)
        slot->count++;
    dlq->changed = true;
}

static bool is_letter(const struct entry_facts *facts) {
    return facts && facts->dlq && lifecycle_is_letter(facts->state);
}

bool dlq_counters_counts(const struct entry_facts *facts) {
    return is_letter(facts) && lifecycle_counts_in_depth(facts->state);
}

bool dlq_counters_arrived(const struct entry_facts *before, const struct entry_facts *after) {
    if (!dlq_counters_counts(after))
        return false;
    return !is_letter(before) || before->dlq != after->dlq ||
           before->dead_at.ms != after->dead_at.ms;
}

/* NULL: the state has no counter of its own, because it is derived from the depth. */
static uint64_t *state_count(struct dlq_counters *dlqs, const struct entry_facts *facts) {
    enum count_kind kind;
    switch ((int)facts->state) {
    case STATE_REPLAYING:
        kind = COUNT_REPLAYING;
        break;
    case STATE_RESOLVED:
        kind = COUNT_RESOLVED;
        break;
    case STATE_DISCARDED:
        kind = COUNT_DISCARDED;
        break;
    default:
        return NULL;
    }
    struct dlq *dlq = dlq_counters_get(dlqs, facts->dlq);
    dlq->changed = true;
    return dlq_counters_count(dlq, kind, NULL, NULL);
}

static void change_state(struct dlq_counters *dlqs, const struct entry_facts *before,
                         const struct entry_facts *after) {
    uint64_t *from = is_letter(before) ? state_count(dlqs, before) : NULL;
    uint64_t *to = is_letter(after) ? state_count(dlqs, after) : NULL;
    if (from)
        decrease(dlqs, from);
    if (to)
        ++*to;
}

void dlq_counters_change(struct dlq_counters *dlqs, const struct entry_facts *before,
                         const struct entry_facts *after) {
    change_state(dlqs, before, after);
    if (dlq_counters_counts(before))
        leave(dlqs, before);
    if (dlq_counters_counts(after))
        enter(dlqs, after);
    if (dlq_counters_arrived(before, after))
        arrive(dlqs, after);
}

void dlq_counters_spilled(struct dlq_counters *dlqs, const struct name *name) {
    struct dlq *dlq = dlq_counters_get(dlqs, name);
    ++*dlq_counters_count(dlq, COUNT_SPILLED, NULL, NULL);
    dlq->changed = true;
}

uint64_t dlq_counters_depth(const struct dlq_counters *dlqs, const struct name *name) {
    const struct dlq *dlq = find(dlqs, name);
    return dlq ? dlq->depth : 0;
}

static uint64_t single_count(const struct dlq *dlq, enum count_kind kind) {
    for (const struct dlq_count *at = dlq->counts; at; at = at->next) {
        if (at->kind == kind)
            return at->count;
    }
    return 0;
}

struct dlq_counters_sums dlq_counters_sums(const struct dlq *dlq) {
    struct dlq_counters_sums sums = {0};
    for (const struct dlq_count *count = dlq->counts; count; count = count->next)
        sums.by_reason += count->kind == COUNT_REASON ? count->count : 0;
    sums.replaying = single_count(dlq, COUNT_REPLAYING);
    for (size_t i = 0; i < dlq->ages.count; i++)
        sums.by_age += dlq->ages.spans[i].count;
    return sums;
}

/* ---- reading ---- */

static uint64_t last_minute(const struct dlq *dlq, struct wall now) {
    int64_t from = now.ms / 1000 - DLQ_COUNTERS_ARRIVAL_SECONDS;
    uint64_t sum = 0;
    for (size_t i = 0; i < DLQ_COUNTERS_ARRIVAL_SECONDS; i++) {
        if (dlq->arrivals[i].second > from)
            sum += dlq->arrivals[i].count;
    }
    return sum;
}

static void read_ages(const struct dlq *dlq, struct wall now, uint64_t out[LETTERS_AGE_BUCKETS]) {
    static const int64_t bounds_ms[LETTERS_AGE_BUCKETS - 1] = {
        60 * 1000, 10 * 60 * 1000, 60 * 60 * 1000, 6 * 60 * 60 * 1000, 24 * 60 * 60 * 1000};
    uint64_t younger = 0;
    for (size_t i = 0; i < LETTERS_AGE_BUCKETS - 1; i++) {
        uint64_t within = ages_after(&dlq->ages, now.ms - bounds_ms[i] - 1);
        out[i] = within - younger;
        younger = within;
    }
    out[LETTERS_AGE_BUCKETS - 1] = dlq->depth > younger ? dlq->depth - younger : 0;
}

static struct bytes text_of(const struct name *name) {
    return name ? name->text : BYTES("");
}

static struct bytes arrived_name(const struct dlq_count *count, struct arena *arena) {
    struct bytes category = text_of(count->category), reason = text_of(count->reason);
    char *text = arena_alloc(arena, category.len + 1 + reason.len + 1);
    memcpy(text, category.ptr, category.len);
    memcpy(text + category.len + 1, reason.ptr, reason.len);
    return (struct bytes){text, category.len + 1 + reason.len};
}

static struct bytes count_name(const struct dlq_count *count, struct arena *arena) {
    if (count->kind == COUNT_ARRIVED)
        return arrived_name(count, arena);
    return arena_dup(arena, text_of(count->kind == COUNT_REASON ? count->reason : count->category));
}

static int most_first(const void *a, const void *b) {
    const struct store_count *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return bytes_cmp(left->name, right->name);
}

static size_t read_counts(const struct dlq *dlq, enum count_kind kind, struct arena *arena,
                          struct store_count **out) {
    size_t count = 0;
    for (const struct dlq_count *at = dlq->counts; at; at = at->next)
        count += at->kind == kind && at->count > 0;
    *out = arena_alloc(arena, (count + 1) * sizeof **out);
    size_t filled = 0;
    for (const struct dlq_count *at = dlq->counts; at; at = at->next) {
        if (at->kind == kind && at->count > 0)
            (*out)[filled++] = (struct store_count){count_name(at, arena), at->count};
    }
    qsort(*out, count, sizeof **out, most_first);
    return count;
}

enum status dlq_counters_read(const struct dlq_counters *dlqs, const struct name *name,
                              struct wall now, struct arena *arena, struct letters_dlq *out) {
    const struct dlq *dlq = find(dlqs, name);
    if (!dlq)
        return STATUS_NOT_FOUND;
    *out = (struct letters_dlq){
        .name = arena_dup(arena, dlq->name->text),
        .depth = dlq->depth,
        .spilled = single_count(dlq, COUNT_SPILLED),
        .total = single_count(dlq, COUNT_TOTAL),
        .arrivals_last_minute = last_minute(dlq, now),
        .oldest = ages_oldest(&dlq->ages),
    };
    uint64_t replaying = single_count(dlq, COUNT_REPLAYING);
    out->by_state[STATE_REPLAYING] = replaying;
    out->by_state[STATE_PENDING_REVIEW] = dlq->depth > replaying ? dlq->depth - replaying : 0;
    out->by_state[STATE_RESOLVED] = single_count(dlq, COUNT_RESOLVED);
    out->by_state[STATE_DISCARDED] = single_count(dlq, COUNT_DISCARDED);
    out->category_count = read_counts(dlq, COUNT_CATEGORY, arena, &out->by_category);
    out->reason_count = read_counts(dlq, COUNT_REASON, arena, &out->by_reason);
    out->arrived_count = read_counts(dlq, COUNT_ARRIVED, arena, &out->arrived);
    read_ages(dlq, now, out->ages);
    return STATUS_OK;
}

struct name_list {
    struct bytes *names;
    size_t count;
    struct arena *arena;
};

static void add_name(struct map_node *node, void *arg) {
    struct name_list *list = arg;
    const struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    list->names[list->count++] = arena_dup(list->arena, dlq->name->text);
}

static int by_text(const void *a, const void *b) {
    return bytes_cmp(*(const struct bytes *)a, *(const struct bytes *)b);
}

size_t dlq_counters_names(const struct dlq_counters *dlqs, struct arena *arena,
                          struct bytes **out) {
    struct name_list list = {.arena = arena};
    list.names = arena_alloc(arena, (dlqs->map.count + 1) * sizeof *list.names);
    map_each(&dlqs->map, add_name, &list);
    qsort(list.names, list.count, sizeof *list.names, by_text);
    *out = list.names;
    return list.count;
}

struct reason_list {
    struct bytes prefix;
    struct bytes *out;
    size_t count, max;
};

static void add_reason(struct reason_list *list, struct bytes reason) {
    for (size_t i = 0; i < list->count; i++)
        if (bytes_eq(list->out[i], reason))
            return;
    if (list->count < list->max)
        list->out[list->count] = reason;
    list->count++;
}

static void add_reasons(struct map_node *node, void *arg) {
    struct reason_list *list = arg;
    const struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    for (const struct dlq_count *at = dlq->counts; at && list->count <= list->max; at = at->next) {
        if (at->kind == COUNT_REASON && at->count > 0 &&
            decide_reason_matches(text_of(at->reason), list->prefix))
            add_reason(list, text_of(at->reason));
    }
}

size_t dlq_counters_reasons(const struct dlq_counters *dlqs, struct bytes prefix, struct bytes *out,
                            size_t max) {
    struct reason_list list = {.prefix = prefix, .out = out, .max = max};
    map_each(&dlqs->map, add_reasons, &list);
    return list.count;
}
