#include "store/embedded/sqlite/fold/snapshot.h"

#include <stdlib.h>

#include "base/memory.h"
#include "store/embedded/sqlite/fold/changes.h"

enum { SETTLE_ENTRIES = 128 };

/* ---- sealing ---- */

/* Bytes from before the last seal are in an earlier snapshot. */
static uint64_t place_of(uint64_t place, uint64_t sealed_end) {
    return place < sealed_end ? PLACE_FILE : place;
}

static void seal_entry(struct snapshot *snapshot, struct entry *entry, uint64_t sealed_end) {
    snapshot->entries[snapshot->entry_count++] = (struct snapshot_entry){
        .entry = entry,
        .forgotten = entry->stage == ENTRY_FORGOTTEN,
        .fresh = !entry->in_file && entry->folding == 0,
        .envelope_place = place_of(entry->envelope_place, sealed_end),
        .body_place = place_of(entry->body_place, sealed_end),
        .mark = blob_share(entry->mark),
    };
    entry->changed = false;
    entry->folding++;
}

static void seal_entries(struct snapshot *snapshot, struct sqlite_store *self) {
    snapshot->entries = memory_array(self->change_count + 1, sizeof *snapshot->entries);
    for (struct list *node; (node = list_pop_front(&self->changes)) != NULL;)
        seal_entry(snapshot, CONTAINER_OF(node, struct entry, change), self->sealed_end);
    self->folding_count += snapshot->entry_count;
    self->change_count = 0;
}

static void seal_ages(struct snapshot *snapshot, struct dlq *dlq) {
    struct ages *ages = &dlq->ages;
    bool all = ages->merged;
    snapshot->ages = memory_grow(snapshot->ages,
                                 (snapshot->age_count + ages->count + 1) * sizeof *snapshot->ages);
    for (size_t i = 0; i < ages->count; i++) {
        struct ages_span *span = &ages->spans[i];
        if (!all && !span->changed)
            continue;
        snapshot->ages[snapshot->age_count++] =
            (struct snapshot_age){.dlq = dlq->name, .first = all && i == 0, .span = *span};
        span->changed = false;
    }
    ages->merged = false;
}

static void seal_counts(struct map_node *node, void *arg) {
    struct snapshot *snapshot = arg;
    struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    if (!dlq->changed)
        return;
    dlq->changed = false;
    snapshot->counts = memory_grow(snapshot->counts, (snapshot->count_count + dlq->by_key.count) *
                                                         sizeof *snapshot->counts);
    for (const struct dlq_count *count = dlq->counts; count; count = count->next)
        snapshot->counts[snapshot->count_count++] =
            (struct snapshot_count){.dlq = dlq->name,
                                    .category = count->category,
                                    .reason = count->reason,
                                    .kind = count->kind,
                                    .count = count->count};
    seal_ages(snapshot, dlq);
}

static void seal_queues(struct snapshot *snapshot, struct sqlite_store *self) {
    snapshot->queues = memory_array(self->front.tables.queue_count + 1, sizeof *snapshot->queues);
    for (size_t i = 0; i < self->front.tables.queue_count; i++) {
        struct queue_table *queue = self->front.tables.queues[i];
        if (!queue->changed)
            continue;
        queue->changed = false;
        snapshot->queues[snapshot->queue_count++] = (struct snapshot_queue){
            .number = queue->number,
            .name = queue->name,
            .facts = queue->facts.ptr ? bytes_dup(queue->facts) : NULL,
        };
    }
}

static void seal_keeps(struct snapshot *snapshot, struct sqlite_store *self) {
    struct notes *keeps = &self->front.tables.keeps;
    snapshot->keeps = memory_array(keeps->change_count + 1, sizeof *snapshot->keeps);
    for (struct list *node; (node = list_pop_front(&keeps->changes)) != NULL;) {
        struct keep *keep = CONTAINER_OF(node, struct keep, change);
        struct snapshot_keep *sealed = &snapshot->keeps[snapshot->keep_count++];
        *sealed = (struct snapshot_keep){.keep = keep, .expires = keep->expires};
        if (keep->value.blob)
            blob_keep(&sealed->value, keep->value.blob, keep->value.bytes);
        keep->changed = false;
        keep->folding++;
    }
    self->folding_count += snapshot->keep_count;
    keeps->change_count = keeps->changed_bytes = 0;
}

static void seal_groups(struct snapshot *snapshot, struct group_counters *groups) {
    snapshot->groups = memory_array(groups->change_count + 1, sizeof *snapshot->groups);
    for (struct list *node; (node = list_pop_front(&groups->changes)) != NULL;) {
        const struct dlq_group *group = CONTAINER_OF(node, struct dlq_group, change);
        snapshot->groups[snapshot->group_count++] = (struct snapshot_group){
            .dlq = group->dlq,
            .group = {.fingerprint = group->fingerprint,
                      .count = group->count,
                      .total = group->total,
                      .first_seen = group->first_seen,
                      .last_seen = group->last_seen,
                      .sample = group->sample},
        };
    }
    groups->change_count = 0;
}

struct snapshot *snapshot_seal(struct sqlite_store *self) {
    struct snapshot *snapshot = memory_new(sizeof *snapshot);
    snapshot->position = self->applied_end;
    snapshot->next_seq = self->front.tables.next_seq;
    seal_entries(snapshot, self);
    seal_keeps(snapshot, self);
    seal_groups(snapshot, &self->front.tables.groups);
    map_each(&self->front.tables.dlqs.map, seal_counts, snapshot);
    seal_queues(snapshot, self);
    self->sealed_end = snapshot->position;
    return snapshot;
}

static void prepare_entry(const struct snapshot_entry *sealed, struct snapshot_bytes *out) {
    const struct entry *entry = sealed->entry;
    if (entry->envelope.blob && entry->envelope_place == sealed->envelope_place)
        blob_keep(&out->envelope, entry->envelope.blob, entry->envelope.bytes);
    if (entry->body.blob && entry->body_place == sealed->body_place)
        blob_keep(&out->body, entry->body.blob, entry->body.bytes);
}

void snapshot_prepare(struct snapshot *snapshot) {
    if (snapshot->bytes)
        return;
    snapshot->bytes = memory_array(snapshot->entry_count + 1, sizeof *snapshot->bytes);
    for (size_t i = 0; i < snapshot->entry_count; i++) {
        if (!snapshot->entries[i].forgotten)
            prepare_entry(&snapshot->entries[i], &snapshot->bytes[i]);
    }
}

/* ---- settling ---- */

static void settle_entry(struct sqlite_store *self, const struct snapshot_entry *sealed) {
    struct entry *entry = sealed->entry;
    entry->folding--;
    entry->in_file = !sealed->forgotten;
    if (entry->envelope_place == sealed->envelope_place)
        entry->envelope_place = PLACE_FILE;
    if (entry->body_place == sealed->body_place)
        entry->body_place = PLACE_FILE;
    changes_release(self, entry);
}

/* Settles a few entries at a time, because commits wait for the mutex. */
void snapshot_settle_entries(const struct snapshot *snapshot, struct sqlite_store *self) {
    for (size_t i = 0; i < snapshot->entry_count; i += SETTLE_ENTRIES) {
        pthread_mutex_lock(&self->front.mutex);
        self->settles += i == 0;
        for (size_t j = i; j < i + SETTLE_ENTRIES && j < snapshot->entry_count; j++)
            settle_entry(self, &snapshot->entries[j]);
        pthread_mutex_unlock(&self->front.mutex);
    }
}

void snapshot_settle(struct snapshot *snapshot, struct sqlite_store *self) {
    self->folding_count -= snapshot->entry_count + snapshot->keep_count;
    for (size_t i = 0; i < snapshot->keep_count; i++) {
        snapshot->keeps[i].keep->folding--;
        notes_release(&self->front.tables.keeps, snapshot->keeps[i].keep);
    }
    self->folded_end = snapshot->position;
}

void snapshot_free(struct snapshot *snapshot) {
    for (size_t i = 0; snapshot->bytes && i < snapshot->entry_count; i++) {
        blob_unkeep(&snapshot->bytes[i].envelope);
        blob_unkeep(&snapshot->bytes[i].body);
    }
    free(snapshot->bytes);
    for (size_t i = 0; i < snapshot->entry_count; i++)
        blob_free(snapshot->entries[i].mark);
    for (size_t i = 0; i < snapshot->keep_count; i++)
        blob_unkeep(&snapshot->keeps[i].value);
    free(snapshot->keeps);
    free(snapshot->groups);
    for (size_t i = 0; i < snapshot->queue_count; i++)
        free(snapshot->queues[i].facts);
    free(snapshot->entries);
    free(snapshot->counts);
    free(snapshot->ages);
    free(snapshot->queues);
    free(snapshot);
}
