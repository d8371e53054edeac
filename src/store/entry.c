#include "store/entry.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void entry_facts(const struct envelope *envelope, struct names *names, struct facts *out) {
    *out = (struct facts){
        .state = envelope->state,
        .attempts = envelope->attempts,
        .next_attempt_at = envelope->next_attempt_at,
        .delay_ms = envelope->delay_ms,
        .dead_at = envelope->dead_at,
        .dlq = names_get(names, envelope->dlq),
        .category = names_get(names, envelope->category),
        .reason = names_get(names, envelope->reason),
        .leased = envelope->lease_ms > 0,
        .letter_id = envelope->letter_id.len ? bytes_dup(envelope->letter_id) : NULL,
    };
}

void entry_facts_free(struct facts *facts) {
    free(facts->letter_id);
    facts->letter_id = NULL;
}

struct entry *entry_new(uint64_t seq, uint32_t queue, const struct envelope *envelope,
                        struct names *names) {
    struct entry *entry = memory_new(sizeof *entry);
    entry->seq = seq;
    entry->queue = queue;
    entry->stage = ENTRY_RESERVED;
    entry_facts(envelope, names, &entry->facts);
    memcpy(entry->content_mark, envelope->content_hash, CONTENT_MARK_SIZE);
    entry->id = (struct bytes){bytes_dup(envelope->id), envelope->id.len};
    list_init(&entry->link);
    list_init(&entry->change);
    list_init(&entry->recent);
    return entry;
}

void entry_free(struct entry *entry) {
    if (!entry)
        return;
    entry_facts_free(&entry->facts);
    blob_unkeep(&entry->envelope);
    blob_unkeep(&entry->body);
    blob_free(entry->mark);
    free((char *)entry->id.ptr);
    free(entry);
}

bool entry_same_content(const struct entry *entry, const char content_hash[65]) {
    return memcmp(entry->content_mark, content_hash, CONTENT_MARK_SIZE) == 0;
}

struct bytes entry_letter_id(const struct entry *entry) {
    return bytes_of(entry->facts.letter_id);
}

bool entry_is_taken(const struct entry *entry) {
    return entry->taken || entry->facts.leased;
}

struct bytes entry_mark(const struct entry *entry) {
    return entry->mark ? (struct bytes){entry->mark->data, entry->mark->len} : BYTES_NONE;
}

enum state entry_state(const struct entry *entry) {
    if (entry_is_taken(entry) && entry->facts.state == STATE_QUEUED)
        return STATE_RUNNING;
    if (entry_is_taken(entry) && entry->facts.state == STATE_PENDING_RETRY)
        return STATE_RETRYING;
    return entry->facts.state;
}
