#include "store/tables/ready/paged_queue.h"

#include <assert.h>

void paged_queue_init(struct paged_queue *lane) {
    *lane = (struct paged_queue){.next = MONO_NEVER};
    list_init(&lane->here);
}

enum paged_queue_kind paged_queue_of(enum state state, struct wall due) {
    if (state == STATE_PENDING_RETRY)
        return PAGED_QUEUE_RETRY;
    if (state != STATE_QUEUED)
        return PAGED_QUEUE_COUNT;
    return due.ms != 0 ? PAGED_QUEUE_DELAYED : PAGED_QUEUE_READY;
}

/* Never parked: an entry that was given back, because the file does not have its due time, and one
 * that waits for room, because it has no due time. */
enum paged_queue_kind paged_queue_of_entry(const struct entry *entry) {
    if (entry->facts.leased || entry->given_back || entry_awaits_room(entry))
        return PAGED_QUEUE_COUNT;
    return paged_queue_of(entry->facts.state, entry->facts.next_attempt_at);
}

struct paged_queue_mark paged_queue_mark(const struct entry *entry) {
    return (struct paged_queue_mark){entry->facts.next_attempt_at.ms, entry->seq};
}

bool paged_queue_is_before(struct paged_queue_mark a, struct paged_queue_mark b) {
    return a.due_ms != b.due_ms ? a.due_ms < b.due_ms : a.seq < b.seq;
}

bool paged_queue_parks(const struct paged_queue *lane, const struct entry *entry) {
    return lane->open && !paged_queue_is_before(paged_queue_mark(entry), lane->from);
}

void paged_queue_park(struct paged_queue *lane, struct entry *entry, struct mono due) {
    assert(lane->open && !entry->parked && list_empty(&entry->link));
    entry->parked = true;
    list_push_back(&lane->here, &entry->link);
    lane->count++;
    if (due.ms < lane->next.ms)
        lane->next = due;
}

/* The count was read from the file, whose index may be damaged: do not wrap around. */
void paged_queue_count_down(struct paged_queue *lane) {
    if (lane->count > 0)
        lane->count--;
}

void paged_queue_unpark(struct paged_queue *lane, struct entry *entry) {
    assert(entry->parked);
    list_remove(&entry->link);
    entry->parked = false;
    paged_queue_count_down(lane);
}

void paged_queue_let_go(struct entry *entry) {
    list_remove(&entry->link);
    entry->parked = false;
}

void paged_queue_open(struct paged_queue *lane, uint64_t count) {
    lane->open = true;
    lane->from = (struct paged_queue_mark){0};
    lane->next = (struct mono){0};
    lane->count = count;
}
