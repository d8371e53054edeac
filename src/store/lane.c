#include "store/lane.h"

#include <assert.h>

void lane_init(struct lane *lane) {
    *lane = (struct lane){.next = MONO_NEVER};
    list_init(&lane->here);
}

enum lane_kind lane_of(enum state state, struct wall due) {
    if (state == STATE_PENDING_RETRY)
        return LANE_RETRY;
    if (state != STATE_QUEUED)
        return LANE_COUNT;
    return due.ms != 0 ? LANE_DELAYED : LANE_READY;
}

/* What was given back waits for a time that the file does not know; what waits for room waits for
 * no time. */
enum lane_kind lane_of_entry(const struct entry *entry) {
    if (entry->facts.leased || entry->given_back || entry_awaits_room(entry))
        return LANE_COUNT;
    return lane_of(entry->facts.state, entry->facts.next_attempt_at);
}

struct lane_mark lane_mark(const struct entry *entry) {
    return (struct lane_mark){entry->facts.next_attempt_at.ms, entry->seq};
}

bool lane_is_before(struct lane_mark a, struct lane_mark b) {
    return a.due_ms != b.due_ms ? a.due_ms < b.due_ms : a.seq < b.seq;
}

bool lane_parks(const struct lane *lane, const struct entry *entry) {
    return lane->open && !lane_is_before(lane_mark(entry), lane->from);
}

void lane_park(struct lane *lane, struct entry *entry, struct mono due) {
    assert(lane->open && !entry->parked && list_empty(&entry->link));
    entry->parked = true;
    list_push_back(&lane->here, &entry->link);
    lane->count++;
    if (due.ms < lane->next.ms)
        lane->next = due;
}

/* The count was read from a file, whose index may have counted less. */
void lane_count_down(struct lane *lane) {
    if (lane->count > 0)
        lane->count--;
}

void lane_unpark(struct lane *lane, struct entry *entry) {
    assert(entry->parked);
    list_remove(&entry->link);
    entry->parked = false;
    lane_count_down(lane);
}

void lane_let_go(struct entry *entry) {
    list_remove(&entry->link);
    entry->parked = false;
}

void lane_open(struct lane *lane, uint64_t count) {
    lane->open = true;
    lane->from = (struct lane_mark){0};
    lane->next = (struct mono){0};
    lane->count = count;
}
