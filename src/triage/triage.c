/* triage: the clock, new ids, and commits that are waited for. */
#include "triage/triage.h"

#include <assert.h>
#include <semaphore.h>

#include "base/steady.h"

void triage_init(struct triage *triage, struct clock *clock, uint64_t seed) {
    *triage = (struct triage){.clock = clock, .began = clock_began(clock)};
    pthread_mutex_init(&triage->mutex, NULL);
    pthread_mutex_init(&triage->notes, NULL);
    rng_seed(&triage->rng, seed);
}

void triage_free(struct triage *triage) {
    pthread_mutex_destroy(&triage->notes);
    pthread_mutex_destroy(&triage->mutex);
}

struct wall triage_steady_now(struct triage *triage) {
    return steady_wall(triage->began, clock_now(triage->clock));
}

struct instant triage_now(struct triage *triage) {
    return clock_now(triage->clock);
}

void triage_new_id(struct triage *triage, struct wall now, char text[UUID_TEXT_SIZE]) {
    pthread_mutex_lock(&triage->mutex);
    uuid_v7(now, &triage->rng, text);
    pthread_mutex_unlock(&triage->mutex);
}

struct commit_wait {
    struct store_commit commit;
    sem_t answered;
    enum status status;
};

static void on_commit(struct store_commit *commit, enum status status) {
    struct commit_wait *waiting = commit->arg;
    waiting->status = status;
    sem_post(&waiting->answered);
}

enum status triage_commit(struct triage *triage, struct store_op *ops, size_t count,
                          struct err *err) {
    assert(count > 0 && ops);
    struct commit_wait waiting = {
        .commit = {.ops = ops, .count = count, .done = on_commit, .caller_waits = true}};
    waiting.commit.arg = &waiting;
    sem_init(&waiting.answered, 0, 0);
    triage->store->vtable->submit(triage->store, &waiting.commit);
    while (sem_wait(&waiting.answered) != 0) {
    }
    sem_destroy(&waiting.answered);
    if (waiting.status != STATUS_OK && err)
        *err = waiting.commit.err;
    return waiting.status;
}
