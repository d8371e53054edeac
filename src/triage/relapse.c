#include "triage/relapse.h"

static int64_t number_of(struct mono at) {
    return at.ms / 1000;
}

void relapse_begin(struct relapse *relapse, struct mono now) {
    *relapse = (struct relapse){.since = now};
}

static struct relapse_second *second_at(struct relapse *relapse, struct mono at) {
    int64_t number = number_of(at);
    struct relapse_second *second = &relapse->seconds[number % RELAPSE_SECONDS];
    if (second->number != number)
        *second = (struct relapse_second){.number = number};
    return second;
}

void relapse_sent(struct relapse *relapse, struct mono now, uint64_t count) {
    second_at(relapse, now)->sent += count;
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

bool relapse_is_here(const struct relapse *relapse, struct mono now, struct buf *why) {
    struct relapse_second all = sum(relapse, now);
    if (all.dead >= RELAPSE_DEAD_LEAST && all.dead * 100 > all.sent * RELAPSE_DEAD_PERCENT) {
        buf_printf(why, "letters come back: %llu of the %llu sent in the last %d s are dead again",
                   (unsigned long long)all.dead, (unsigned long long)all.sent, RELAPSE_SECONDS);
        return true;
    }
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
