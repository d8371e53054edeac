/* second_opinion: see the picture in the header. */
#include "core/outage/second_opinion.h"

#include <assert.h>

static void wait_anew(struct second_opinion *opinion, struct mono now) {
    opinion->held = false;
    opinion->receive_until = mono_after(now, OPINION_RECEIVE_MS);
    opinion->wait_until = mono_after(now, OPINION_WAIT_MS);
}

void opinion_refused(struct second_opinion *opinion, uint64_t begun, struct mono now, bool check) {
    opinion->refused_at = begun;
    if (!check || opinion->stage != OPINION_NONE)
        return;
    opinion->stage = OPINION_ASKING;
    opinion->since = begun;
    opinion->answers = 0;
    opinion->failed = false;
    wait_anew(opinion, now);
}

void opinion_answered(struct second_opinion *opinion, uint64_t number, enum opinion_answer answer,
                      struct mono now) {
    if (answer == OPINION_SUCCESS && number > opinion->succeeded)
        opinion->succeeded = number;
    if (opinion->stage != OPINION_ASKING || number <= opinion->since)
        return;
    if (answer == OPINION_SUCCESS) {
        opinion->stage = OPINION_CONFIRMING;
        return;
    }
    opinion->answers++;
    opinion->failed |= answer == OPINION_FAILURE;
    wait_anew(opinion, now);
}

/* If no answer proved anything, the queue continues: its next hand-overs give the answers. */
enum opinion_step opinion_step(struct second_opinion *opinion, struct mono now) {
    if (opinion->stage == OPINION_CONFIRMING)
        return OPINION_CONFIRM;
    if (opinion->stage == OPINION_ASKING && opinion->answers >= OPINION_ASKED_MAX &&
        !opinion->failed)
        opinion->stage = OPINION_NONE;
    if (opinion->stage == OPINION_NONE)
        return OPINION_RUN;
    if (opinion->held)
        wait_anew(opinion, now);
    bool over = opinion->answers >= OPINION_ASKED_MAX || now.ms >= opinion->wait_until.ms;
    return over ? OPINION_HALT : OPINION_ASK;
}

void opinion_hold(struct second_opinion *opinion) {
    opinion->held = true;
}

void opinion_confirmed(struct second_opinion *opinion) {
    if (opinion->stage == OPINION_CONFIRMING)
        opinion->stage = OPINION_NONE;
}

bool opinion_proves(const struct second_opinion *opinion, uint64_t begun) {
    return opinion->succeeded > begun;
}

bool opinion_receives(const struct second_opinion *opinion, struct mono now) {
    return opinion->stage != OPINION_ASKING || now.ms < opinion->receive_until.ms;
}

static void remove_death(struct second_opinion *opinion, size_t index) {
    opinion->death_count--;
    for (size_t i = index; i < opinion->death_count; i++)
        opinion->deaths[i] = opinion->deaths[i + 1];
}

bool opinion_died(struct second_opinion *opinion, uint64_t message, struct mono at) {
    for (size_t i = 0; i < opinion->death_count; i++)
        if (opinion->deaths[i].message == message)
            remove_death(opinion, i);
    if (opinion->death_count == OPINION_DEATHS_MAX)
        remove_death(opinion, 0);
    assert(opinion->death_count < OPINION_DEATHS_MAX);
    opinion->deaths[opinion->death_count++] = (struct opinion_death){message, at};
    return opinion->death_count == OPINION_DEATHS_MAX &&
           at.ms - opinion->deaths[0].at.ms < OPINION_DEATHS_MS;
}

void opinion_reset(struct second_opinion *opinion, uint64_t begun) {
    *opinion = (struct second_opinion){.refused_at = begun};
}

struct mono opinion_next_wake(const struct second_opinion *opinion, struct mono now) {
    if (opinion->stage != OPINION_ASKING || opinion->held)
        return MONO_NEVER;
    return now.ms < opinion->receive_until.ms ? opinion->receive_until : opinion->wait_until;
}
