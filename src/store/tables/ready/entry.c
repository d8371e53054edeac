#include "store/tables/ready/entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "store/tables/ready/ready_queues.h"

void entry_facts(const struct envelope *envelope, struct name_table *names,
                 struct entry_facts *out) {
    *out = (struct entry_facts){
        .state = envelope->state,
        .attempts = envelope->attempts,
        .next_attempt_at = envelope->next_attempt_at,
        .delay_ms = envelope->delay_ms,
        .dead_at = envelope->dead_at,
        .dlq = name_table_get(names, envelope->dlq),
        .category = name_table_get(names, envelope->category),
        .reason = name_table_get(names, envelope->reason),
        .fingerprint = envelope->failed ? envelope->fingerprint : 0,
        .size = envelope->size,
        .leased = envelope->lease_ms > 0,
        .closes_key = envelope->closes_key,
        .letter_id = envelope->letter_id.len ? bytes_dup(envelope->letter_id) : NULL,
    };
}

void entry_facts_free(struct entry_facts *facts) {
    free(facts->letter_id);
    facts->letter_id = NULL;
}

static void copy_names(struct entry *entry, const struct envelope *envelope) {
    struct bytes id = envelope->id, key = envelope->key;
    memcpy(entry->names, id.ptr, id.len);
    entry->id = (struct bytes){entry->names, id.len};
    if (!key.ptr)
        return;
    memcpy(entry->names + id.len, key.ptr, key.len);
    entry->key = (struct bytes){entry->names + id.len, key.len};
}

struct entry *entry_new(uint64_t seq, uint32_t queue, const struct envelope *envelope,
                        struct name_table *names) {
    /* one allocation for entry, id and key, because there may be millions */
    struct entry *entry = memory_new(sizeof *entry + envelope->id.len + envelope->key.len);
    entry->seq = seq;
    entry->queue = queue;
    entry->stage = ENTRY_RESERVED;
    entry_facts(envelope, names, &entry->facts);
    memcpy(entry->content_mark, envelope->content_hash, CONTENT_MARK_SIZE);
    copy_names(entry, envelope);
    list_init(&entry->link);
    list_init(&entry->change);
    list_init(&entry->recent);
    list_init(&entry->in_line);
    return entry;
}

void entry_free(struct entry *entry) {
    if (!entry)
        return;
    entry_facts_free(&entry->facts);
    blob_unkeep(&entry->envelope);
    blob_unkeep(&entry->body);
    blob_free(entry->mark);
    free(entry);
}

bool entry_same_content(const struct entry *entry, const char *content_mark) {
    return memcmp(entry->content_mark, content_mark, CONTENT_MARK_SIZE) == 0;
}

struct bytes entry_letter_id(const struct entry *entry) {
    return bytes_of(entry->facts.letter_id);
}

bool entry_awaits_room(const struct entry *entry) {
    const struct entry_facts *facts = &entry->facts;
    return facts->state == STATE_PENDING_RETRY && facts->dlq &&
           facts->next_attempt_at.ms == WALL_NEVER.ms && !facts->leased;
}

struct bytes entry_public_id(const struct entry *entry) {
    return entry->facts.letter_id ? entry_letter_id(entry) : entry->id;
}

bool entry_stays(const struct entry *entry) {
    return (ready_queues_has_place(entry->facts.state) && !entry->parked) ||
           (entry->facts.closes_key && entry->facts.state == STATE_PENDING_REVIEW);
}

bool entry_is_taken(const struct entry *entry) {
    return entry->taken || entry->facts.leased;
}

struct bytes entry_mark(const struct entry *entry) {
    return entry->mark ? (struct bytes){entry->mark->data, entry->mark->len} : BYTES_NONE;
}

enum state entry_state(const struct entry *entry) {
    return entry_is_taken(entry) ? lifecycle_in_flight(entry->facts.state) : entry->facts.state;
}
