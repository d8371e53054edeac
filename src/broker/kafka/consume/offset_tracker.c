#include "broker/kafka/consume/offset_tracker.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LINES_FIRST = 64 };

void offset_tracker_init(struct offset_tracker *tracker) {
    *tracker = (struct offset_tracker){.next = -1};
}

void offset_tracker_free(struct offset_tracker *tracker) {
    free(tracker->lines);
    free(tracker->past);
    offset_tracker_init(tracker);
}

/* ---- lines ---- */

/* Index of the first entry at or above the offset. Offsets are mostly consecutive, so that their
 * difference from the first entry's is tried first. */
static size_t lower_bound(const struct offset_entry *lines, size_t count, int64_t offset) {
    size_t low = 0, high = count;
    uint64_t behind = count > 0 ? (uint64_t)offset - (uint64_t)lines[0].offset : 0;
    if (behind < count && lines[behind].offset == offset)
        return (size_t)behind;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (lines[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct offset_entry *find_among(struct offset_entry *lines, size_t count, int64_t offset,
                                       uint64_t print) {
    size_t at = lower_bound(lines, count, offset);
    bool same = at < count && lines[at].offset == offset && lines[at].print == print;
    return same ? &lines[at] : NULL;
}

static struct offset_entry *find(struct offset_tracker *tracker, int64_t offset, uint64_t print) {
    struct offset_entry *line =
        find_among(tracker->lines + tracker->first, tracker->count, offset, print);
    return line ? line
                : find_among(tracker->past + tracker->past_first, tracker->past_count, offset,
                             print);
}

/* Makes room for one more entry at the end: entries that were trimmed at the front are used before
 * more memory. */
static void make_room(struct offset_tracker *tracker) {
    if (tracker->first + tracker->count < tracker->cap)
        return;
    if (tracker->first > tracker->cap / 2) {
        memmove(tracker->lines, tracker->lines + tracker->first,
                tracker->count * sizeof *tracker->lines);
        tracker->first = 0;
        return;
    }
    tracker->cap = tracker->cap ? tracker->cap * 2 : LINES_FIRST;
    tracker->lines = memory_grow(tracker->lines, tracker->cap * sizeof *tracker->lines);
}

static void append(struct offset_tracker *tracker, struct offset_entry line) {
    make_room(tracker);
    tracker->lines[tracker->first + tracker->count++] = line;
}

static void trim(struct offset_tracker *tracker) {
    while (tracker->count > 0 && tracker->lines[tracker->first].state == OFFSET_SETTLED) {
        tracker->first++;
        tracker->count--;
    }
}

/* ---- what is known from before ---- */

/* Entries are below what is left of the past, through which they were read. */
void offset_tracker_rewind(struct offset_tracker *tracker) {
    size_t all = tracker->count + tracker->past_count;
    size_t kept = all < OFFSET_TRACKER_MAX ? all : OFFSET_TRACKER_MAX;
    size_t lines = tracker->count < kept ? tracker->count : kept;
    struct offset_entry *past = memory_array(kept + 1, sizeof *past);
    if (lines > 0)
        memcpy(past, tracker->lines + tracker->first, lines * sizeof *past);
    if (kept > lines)
        memcpy(past + lines, tracker->past + tracker->past_first, (kept - lines) * sizeof *past);
    offset_tracker_free(tracker);
    tracker->past = past;
    tracker->past_count = kept;
}

static void pass(struct offset_tracker *tracker, size_t count) {
    tracker->past_first += count;
    tracker->past_count -= count;
}

/* What the past knows of the record. Entries below it are no longer in the partition; another
 * record at its offset means that the partition was recreated, and that nothing is known of it. */
static enum offset_state recall(struct offset_tracker *tracker, int64_t offset, uint64_t print) {
    pass(tracker, lower_bound(tracker->past + tracker->past_first, tracker->past_count, offset));
    if (tracker->past_count == 0 || tracker->past[tracker->past_first].offset != offset)
        return OFFSET_DROPPED;
    const struct offset_entry *line = &tracker->past[tracker->past_first];
    if (line->print != print) {
        tracker->past_count = 0;
        return OFFSET_DROPPED;
    }
    enum offset_state state = line->state;
    pass(tracker, 1);
    return state;
}

/* ---- the outside ---- */

size_t offset_tracker_room(const struct offset_tracker *tracker) {
    return OFFSET_TRACKER_MAX - tracker->count;
}

bool offset_tracker_full(const struct offset_tracker *tracker) {
    return offset_tracker_room(tracker) == 0;
}

bool offset_tracker_read(struct offset_tracker *tracker, int64_t offset, uint64_t print) {
    assert(!offset_tracker_full(tracker));
    if (offset < tracker->next) /* the partition was truncated, or is being read again */
        offset_tracker_rewind(tracker);
    enum offset_state known = recall(tracker, offset, print);
    tracker->next = offset + 1;
    bool give = known == OFFSET_DROPPED;
    append(tracker, (struct offset_entry){offset, print, give ? OFFSET_HELD : known});
    trim(tracker);
    return give;
}

void offset_tracker_settle(struct offset_tracker *tracker, int64_t offset, uint64_t print) {
    struct offset_entry *line = find(tracker, offset, print);
    if (line)
        line->state = OFFSET_SETTLED;
    trim(tracker);
}

void offset_tracker_drop(struct offset_tracker *tracker, int64_t offset, uint64_t print) {
    struct offset_entry *line = find(tracker, offset, print);
    if (line && line->state == OFFSET_HELD)
        line->state = OFFSET_DROPPED;
}

int64_t offset_tracker_commit(const struct offset_tracker *tracker) {
    return tracker->count > 0 ? tracker->lines[tracker->first].offset : tracker->next;
}
