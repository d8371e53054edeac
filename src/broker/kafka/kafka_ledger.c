#include "broker/kafka/kafka_ledger.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { LINES_FIRST = 64 };

void kafka_ledger_init(struct kafka_ledger *ledger) {
    *ledger = (struct kafka_ledger){.next = -1};
}

void kafka_ledger_free(struct kafka_ledger *ledger) {
    free(ledger->lines);
    free(ledger->past);
    kafka_ledger_init(ledger);
}

/* ---- lines ---- */

/* Index of the first line at or above the offset. Mostly offsets follow one another, and it stands
 * as far behind the first line as they say. */
static size_t lower_bound(const struct kafka_ledger_line *lines, size_t count, int64_t offset) {
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

static struct kafka_ledger_line *find_among(struct kafka_ledger_line *lines, size_t count,
                                            int64_t offset, uint64_t print) {
    size_t at = lower_bound(lines, count, offset);
    bool same = at < count && lines[at].offset == offset && lines[at].print == print;
    return same ? &lines[at] : NULL;
}

static struct kafka_ledger_line *find(struct kafka_ledger *ledger, int64_t offset, uint64_t print) {
    struct kafka_ledger_line *line =
        find_among(ledger->lines + ledger->first, ledger->count, offset, print);
    return line ? line
                : find_among(ledger->past + ledger->past_first, ledger->past_count, offset, print);
}

/* Room for one more behind the last: what was trimmed at the front is used before more is got. */
static void make_room(struct kafka_ledger *ledger) {
    if (ledger->first + ledger->count < ledger->cap)
        return;
    if (ledger->first > ledger->cap / 2) {
        memmove(ledger->lines, ledger->lines + ledger->first,
                ledger->count * sizeof *ledger->lines);
        ledger->first = 0;
        return;
    }
    ledger->cap = ledger->cap ? ledger->cap * 2 : LINES_FIRST;
    ledger->lines = memory_grow(ledger->lines, ledger->cap * sizeof *ledger->lines);
}

static void append(struct kafka_ledger *ledger, struct kafka_ledger_line line) {
    make_room(ledger);
    ledger->lines[ledger->first + ledger->count++] = line;
}

static void trim(struct kafka_ledger *ledger) {
    while (ledger->count > 0 && ledger->lines[ledger->first].state == KAFKA_LEDGER_SETTLED) {
        ledger->first++;
        ledger->count--;
    }
}

/* ---- what is known from before ---- */

/* Lines lie below what is left of the past, through which they were read. */
void kafka_ledger_rewind(struct kafka_ledger *ledger) {
    size_t all = ledger->count + ledger->past_count;
    size_t kept = all < KAFKA_LEDGER_MAX ? all : KAFKA_LEDGER_MAX;
    size_t lines = ledger->count < kept ? ledger->count : kept;
    struct kafka_ledger_line *past = memory_array(kept + 1, sizeof *past);
    if (lines > 0)
        memcpy(past, ledger->lines + ledger->first, lines * sizeof *past);
    if (kept > lines)
        memcpy(past + lines, ledger->past + ledger->past_first, (kept - lines) * sizeof *past);
    kafka_ledger_free(ledger);
    ledger->past = past;
    ledger->past_count = kept;
}

static void pass(struct kafka_ledger *ledger, size_t count) {
    ledger->past_first += count;
    ledger->past_count -= count;
}

/* What the past knows of the record. Lines below it are no longer in the partition; another record
 * at its offset means that the partition is another one, and that nothing is known of it. */
static enum kafka_ledger_state recall(struct kafka_ledger *ledger, int64_t offset, uint64_t print) {
    pass(ledger, lower_bound(ledger->past + ledger->past_first, ledger->past_count, offset));
    if (ledger->past_count == 0 || ledger->past[ledger->past_first].offset != offset)
        return KAFKA_LEDGER_DROPPED;
    const struct kafka_ledger_line *line = &ledger->past[ledger->past_first];
    if (line->print != print) {
        ledger->past_count = 0;
        return KAFKA_LEDGER_DROPPED;
    }
    enum kafka_ledger_state state = line->state;
    pass(ledger, 1);
    return state;
}

/* ---- the outside ---- */

size_t kafka_ledger_room(const struct kafka_ledger *ledger) {
    return KAFKA_LEDGER_MAX - ledger->count;
}

bool kafka_ledger_full(const struct kafka_ledger *ledger) {
    return kafka_ledger_room(ledger) == 0;
}

bool kafka_ledger_read(struct kafka_ledger *ledger, int64_t offset, uint64_t print) {
    assert(!kafka_ledger_full(ledger));
    if (offset < ledger->next) /* the partition was cut back, or is being read anew */
        kafka_ledger_rewind(ledger);
    enum kafka_ledger_state known = recall(ledger, offset, print);
    ledger->next = offset + 1;
    bool give = known == KAFKA_LEDGER_DROPPED;
    append(ledger, (struct kafka_ledger_line){offset, print, give ? KAFKA_LEDGER_HELD : known});
    trim(ledger);
    return give;
}

void kafka_ledger_settle(struct kafka_ledger *ledger, int64_t offset, uint64_t print) {
    struct kafka_ledger_line *line = find(ledger, offset, print);
    if (line)
        line->state = KAFKA_LEDGER_SETTLED;
    trim(ledger);
}

void kafka_ledger_drop(struct kafka_ledger *ledger, int64_t offset, uint64_t print) {
    struct kafka_ledger_line *line = find(ledger, offset, print);
    if (line && line->state == KAFKA_LEDGER_HELD)
        line->state = KAFKA_LEDGER_DROPPED;
}

int64_t kafka_ledger_commit(const struct kafka_ledger *ledger) {
    return ledger->count > 0 ? ledger->lines[ledger->first].offset : ledger->next;
}
