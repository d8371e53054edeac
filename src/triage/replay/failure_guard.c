/* failure_guard: the failure guard of a replay. See the header. */
#include "triage/replay/failure_guard.h"

#include <assert.h>
#include <string.h>

static int64_t number_of(struct mono at) {
    return at.ms / 1000;
}

void failure_guard_begin(struct failure_guard *relapse, struct mono now) {
    memset(relapse->seconds, 0, sizeof relapse->seconds);
    relapse->since = now;
}

static struct failure_guard_second *second_at(struct failure_guard *relapse, struct mono at) {
    assert(at.ms >= 0);
    int64_t number = number_of(at);
    struct failure_guard_second *second = &relapse->seconds[number % FAILURE_GUARD_SECONDS];
    if (second->number != number)
        *second = (struct failure_guard_second){.number = number};
    return second;
}

uint64_t failure_guard_sent(struct failure_guard *relapse, struct mono now) {
    second_at(relapse, now)->sent++;
    relapse->same[++relapse->sent % FAILURE_GUARD_LAST_SENT] = false;
    return relapse->sent;
}

void failure_guard_same(struct failure_guard *relapse, uint64_t number) {
    assert(number <= relapse->sent);
    if (number > 0 && relapse->sent - number < FAILURE_GUARD_LAST_SENT)
        relapse->same[number % FAILURE_GUARD_LAST_SENT] = true;
}

void failure_guard_dead(struct failure_guard *relapse, struct mono sent_at, struct mono now) {
    if (number_of(now) - number_of(sent_at) < FAILURE_GUARD_SECONDS)
        second_at(relapse, sent_at)->dead++;
    failure_guard_refilled(relapse, now, 1);
}

void failure_guard_drained(struct failure_guard *relapse, struct mono now, uint64_t count) {
    second_at(relapse, now)->drained += count;
}

void failure_guard_refilled(struct failure_guard *relapse, struct mono now, uint64_t count) {
    second_at(relapse, now)->refilled += count;
}

static struct failure_guard_second sum(const struct failure_guard *relapse, struct mono now) {
    struct failure_guard_second all = {.number = number_of(now)};
    for (size_t i = 0; i < FAILURE_GUARD_SECONDS; i++) {
        const struct failure_guard_second *second = &relapse->seconds[i];
        if (second->number <= all.number - FAILURE_GUARD_SECONDS)
            continue;
        all.sent += second->sent;
        all.dead += second->dead;
        all.drained += second->drained;
        all.refilled += second->refilled;
    }
    return all;
}

/* Whether too many of the last letters sent died of the failure that they had before. */
static bool is_same(const struct failure_guard *relapse, struct buf *why) {
    uint64_t last =
        relapse->sent < FAILURE_GUARD_LAST_SENT ? relapse->sent : FAILURE_GUARD_LAST_SENT;
    uint64_t dead = 0;
    for (size_t i = 0; i < FAILURE_GUARD_LAST_SENT; i++)
        dead += relapse->same[i];
    if (dead < FAILURE_GUARD_SAME_LEAST || dead * 100 <= last * FAILURE_GUARD_SAME_PERCENT)
        return false;
    buf_printf(why,
               "the same failure comes back: %llu of the last %llu sent are dead with the "
               "fingerprint that they had before",
               (unsigned long long)dead, (unsigned long long)last);
    return true;
}

bool failure_guard_is_here(const struct failure_guard *relapse, struct mono now, struct buf *why) {
    struct failure_guard_second all = sum(relapse, now);
    if (all.dead >= FAILURE_GUARD_DEAD_LEAST &&
        all.dead * 100 > all.sent * FAILURE_GUARD_DEAD_PERCENT) {
        buf_printf(why, "letters come back: %llu of the %llu sent in the last %d s are dead again",
                   (unsigned long long)all.dead, (unsigned long long)all.sent,
                   FAILURE_GUARD_SECONDS);
        return true;
    }
    if (is_same(relapse, why))
        return true;
    bool whole = now.ms - relapse->since.ms >= (int64_t)FAILURE_GUARD_SECONDS * 1000;
    if (whole && all.sent > 0 && all.refilled >= FAILURE_GUARD_DEAD_LEAST &&
        all.refilled >= all.drained) {
        buf_printf(
            why,
            "the DLQ fills as fast as it drains: %llu letters came in and %llu were resolved "
            "in the last %d s",
            (unsigned long long)all.refilled, (unsigned long long)all.drained,
            FAILURE_GUARD_SECONDS);
        return true;
    }
    return false;
}
