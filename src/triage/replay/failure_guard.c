/* relapse: the failure guard of a replay. See the header. */
#include "triage/replay/failure_guard.h"

#include <assert.h>
#include <string.h>

static int64_t number_of(struct mono at) {
    return at.ms / 1000;
}

void relapse_begin(struct relapse *relapse, struct mono now) {
    memset(relapse->seconds, 0, sizeof relapse->seconds);
    relapse->since = now;
}

static struct relapse_second *second_at(struct relapse *relapse, struct mono at) {
    assert(at.ms >= 0);
    int64_t number = number_of(at);
    struct relapse_second *second = &relapse->seconds[number % RELAPSE_SECONDS];
    if (second->number != number)
        *second = (struct relapse_second){.number = number};
    return second;
}

uint64_t relapse_sent(struct relapse *relapse, struct mono now) {
    second_at(relapse, now)->sent++;
    relapse->same[++relapse->sent % RELAPSE_LAST_SENT] = false;
    return relapse->sent;
}

void relapse_same(struct relapse *relapse, uint64_t number) {
    assert(number <= relapse->sent);
    if (number > 0 && relapse->sent - number < RELAPSE_LAST_SENT)
        relapse->same[number % RELAPSE_LAST_SENT] = true;
}

void relapse_dead(struct relapse *relapse, struct mono sent_at, struct mono now) {
    if (number_of(now) - number_of(sent_at) < RELAPSE_SECONDS)
        second_at(relapse, sent_at)->dead++;
    relapse_refilled(relapse, now, 1);
}

void relapse_drained(struct relapse *relapse, struct mono now, uint64_t count) {
    second_at(relapse, now)->drained += count;
}

void relapse_refilled(struct relapse *relapse, struct mono now, uint64_t count) {
    second_at(relapse, now)->refilled += count;
}

static struct relapse_second sum(const struct relapse *relapse, struct mono now) {
    struct relapse_second all = {.number = number_of(now)};
    for (size_t i = 0; i < RELAPSE_SECONDS; i++) {
        const struct relapse_second *second = &relapse->seconds[i];
        if (second->number <= all.number - RELAPSE_SECONDS)
            continue;
        all.sent += second->sent;
        all.dead += second->dead;
        all.drained += second->drained;
        all.refilled += second->refilled;
    }
    return all;
}

/* Whether too many of the last letters sent died of the failure that they had before. */
static bool is_same(const struct relapse *relapse, struct buf *why) {
    uint64_t last = relapse->sent < RELAPSE_LAST_SENT ? relapse->sent : RELAPSE_LAST_SENT;
    uint64_t dead = 0;
    for (size_t i = 0; i < RELAPSE_LAST_SENT; i++)
        dead += relapse->same[i];
    if (dead < RELAPSE_SAME_LEAST || dead * 100 <= last * RELAPSE_SAME_PERCENT)
        return false;
    buf_printf(why,
               "the same failure comes back: %llu of the last %llu sent are dead with the "
               "fingerprint that they had before",
               (unsigned long long)dead, (unsigned long long)last);
    return true;
}

bool relapse_is_here(const struct relapse *relapse, struct mono now, struct buf *why) {
    struct relapse_second all = sum(relapse, now);
    if (all.dead >= RELAPSE_DEAD_LEAST && all.dead * 100 > all.sent * RELAPSE_DEAD_PERCENT) {
        buf_printf(why, "letters come back: %llu of the %llu sent in the last %d s are dead again",
                   (unsigned long long)all.dead, (unsigned long long)all.sent, RELAPSE_SECONDS);
        return true;
    }
    if (is_same(relapse, why))
        return true;
    bool whole = now.ms - relapse->since.ms >= (int64_t)RELAPSE_SECONDS * 1000;
    if (whole && all.sent > 0 && all.refilled >= RELAPSE_DEAD_LEAST &&
        all.refilled >= all.drained) {
        buf_printf(
            why,
            "the DLQ fills as fast as it drains: %llu letters came in and %llu were resolved "
            "in the last %d s",
            (unsigned long long)all.refilled, (unsigned long long)all.drained, RELAPSE_SECONDS);
        return true;
    }
    return false;
}
