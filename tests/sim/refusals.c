/* Refused messages, as the handlers see them (SEMANTICS 4.7):
 *   - a message is dead-lettered for its refusals only if it was refused, another message's
 *     hand-over that began later succeeded, and it was then refused again;
 *   - a queue halts only if, since a refusal, three other hand-overs ended without a success or
 * none could be made for 5 s, or if three messages were dead-lettered for their refusals;
 *   - while the credentials are refused for everybody, the queue halts after a few calls.
 * That a refused message does not wait for ever is promises_check_end's. */
#include <stdio.h>
#include <string.h>

#include "engine/state.h"
#include "world.h"

enum {
    /* Those at the handler when the first was refused, the three that are asked, and one more for
     * each of the three that may be dead-lettered. */
    REFUSED_IN_A_ROW_MAX = WORLD_CONCURRENCY + 2 * OPINION_ASKED_MAX + OPINION_DEATHS_MAX,
};

bool refusals_is_refused(const struct outcome *outcome) {
    return outcome->ending == ENDING_FAILED && (outcome->status == 401 || outcome->status == 403);
}

/* When a hand-over is judged can be told from outside only where its answer alone is waited for:
 * not for a sink, not for a worker's request, not for the rest of a batch. */
static bool is_judged_at_once(size_t queue) {
    return queue != WORLD_SINK_QUEUE && queue != WORLD_LEASE_QUEUE && queue != WORLD_BATCH_QUEUE;
}

void refusals_open(struct world *world) {
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        struct world_queue *queue = &world->queues[i];
        queue->ended_count = queue->known_count = 0;
        queue->refused_in_a_row = 0;
        queue->state = world->engine->queues[i]->state;
    }
}

/* ---- what handlers see ---- */

void refusals_on_start(struct world *world, struct sim_message *message) {
    const struct world_queue *queue = &world->queues[message->queue];
    bool proven = message->refusals > 0 && queue->last_succeeded > message->refused_after;
    /* A lease that ran out may be answered when the message is leased again. */
    message->proven = proven || (message->queue == WORLD_LEASE_QUEUE && message->proven);
}

static void remember(struct world_queue *queue, const struct ended *ended) {
    enum { FORGOTTEN = WORLD_ENDED_MAX / 2 };
    if (queue->ended_count == WORLD_ENDED_MAX) {
        memmove(queue->ended, queue->ended + FORGOTTEN,
                (WORLD_ENDED_MAX - FORGOTTEN) * sizeof *queue->ended);
        queue->ended_count -= FORGOTTEN;
        queue->known_count -= FORGOTTEN < queue->known_count ? FORGOTTEN : queue->known_count;
    }
    queue->ended[queue->ended_count++] = *ended;
}

void refusals_on_end(struct world *world, struct sim_message *message, uint64_t began,
                     const struct outcome *outcome) {
    struct world_queue *queue = &world->queues[message->queue];
    bool refused = refusals_is_refused(outcome), succeeded = outcome->ending == ENDING_OK;
    struct ended ended = {
        .message = message, .began = began, .succeeded = succeeded, .refused = refused};
    if (succeeded && began > queue->last_succeeded)
        queue->last_succeeded = began;
    message->refused_last = refused;
    message->refusals += refused;
    if (refused) {
        message->refused_after = world->begun;
        message->condemned |= message->proven;
        message->locked_out |= world->locked_out;
    }
    remember(queue, &ended);
}

/* ---- what the engine makes of it ---- */

static void count_row(struct world *world, struct world_queue *queue, const struct ended *ended) {
    queue->refused_in_a_row = ended->refused ? queue->refused_in_a_row + 1 : 0;
    if (queue->refused_in_a_row > REFUSED_IN_A_ROW_MAX &&
        queue != &world->queues[WORLD_LEASE_QUEUE])
        world_break(world, "%s: refused after %u others in a row, and its queue runs",
                    ended->message->id, queue->refused_in_a_row - 1);
}

void refusals_before_turn(struct world *world) {
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        struct world_queue *queue = &world->queues[i];
        for (; queue->known_count < queue->ended_count; queue->known_count++) {
            struct ended *ended = &queue->ended[queue->known_count];
            ended->known = world->begun;
            ended->at = world->now.mono;
            count_row(world, queue, ended);
        }
    }
}

/* What followed one refusal. */
struct followed {
    bool succeeded;
    size_t asked;
    struct mono last;
};

static struct followed follow(const struct world_queue *queue, size_t refusal) {
    struct followed all = {.last = queue->ended[refusal].at};
    for (size_t i = refusal + 1; i < queue->known_count; i++) {
        const struct ended *ended = &queue->ended[i];
        if (ended->began <= queue->ended[refusal].known)
            continue;
        all.succeeded |= ended->succeeded;
        all.asked++;
        all.last = ended->at;
    }
    return all;
}

/* It has waited, ready to be handed over, since before the last hand-over ended. */
static bool could_be_asked(struct world *world, const struct sim_message *message) {
    struct store *store = world->real_store;
    struct message *held = NULL;
    if (!message->acknowledged ||
        world->now.mono.ms - message->acknowledged_at.ms < OPINION_WAIT_MS ||
        letters_get(store->letters, world_queue_name(message->queue), bytes_of(message->id), &held,
                    NULL) != STATUS_OK)
        return false;
    const struct envelope *envelope = &held->envelope;
    bool ready = envelope->state == STATE_QUEUED && !envelope->refused &&
                 envelope->next_attempt_at.ms == WALL_NEVER.ms;
    message_free(held);
    return ready;
}

/* Order and idempotency have their own reasons to keep a message. */
static void check_nobody_could_be_asked(struct world *world, size_t number) {
    if (number != WORLD_KEEPING_QUEUE || world->queues[number].breaker != BREAKER_CLOSED)
        return;
    for (size_t i = 0; i < world->message_count; i++)
        if (world->messages[i].queue == number && could_be_asked(world, &world->messages[i]))
            world_break(world, "%s halted for want of another message, and %s waits",
                        world_queue_name(number).ptr, world->messages[i].id);
}

static void check_deaths(struct world *world, size_t number) {
    size_t condemned = 0;
    for (size_t i = 0; i < world->message_count; i++)
        condemned += world->messages[i].queue == number && world->messages[i].condemned;
    if (condemned < OPINION_DEATHS_MAX)
        world_break(world, "%s halted for three refused messages, and there are %zu",
                    world_queue_name(number).ptr, condemned);
}

static void check_halt(struct world *world, size_t number) {
    const struct world_queue *queue = &world->queues[number];
    struct mono now = world->now.mono;
    bool waited = false;
    if (strncmp(world->engine->queues[number]->why, "3 messages", strlen("3 messages")) == 0) {
        check_deaths(world, number);
        return;
    }
    for (size_t i = queue->known_count; i-- > 0 && is_judged_at_once(number);) {
        struct followed all = follow(queue, i);
        if (!queue->ended[i].refused || all.succeeded)
            continue;
        if (all.asked >= OPINION_ASKED_MAX)
            return;
        waited |= now.ms - all.last.ms >= OPINION_WAIT_MS;
    }
    if (!waited && is_judged_at_once(number))
        world_break(world, "%s halted without a second opinion", world_queue_name(number).ptr);
    check_nobody_could_be_asked(world, number);
}

void refusals_after_turn(struct world *world) {
    for (size_t i = 0; i < WORLD_QUEUES; i++) {
        struct world_queue *queue = &world->queues[i];
        enum queue_state before = queue->state;
        queue->state = world->engine->queues[i]->state;
        if (queue->state != before)
            queue->refused_in_a_row = 0;
        if (queue->state == QUEUE_HALTED && before != QUEUE_HALTED)
            check_halt(world, i);
    }
}

/* Its last call was refused, and it is dead for that. */
void refusals_check_death(struct world *world, const struct sim_message *message) {
    if (!message->refused_last || message->cause != CAUSE_TERMINAL)
        return;
    if (message->refusals < 2 || !message->condemned)
        world_break(world, "%s: dead after %u refusals without a second opinion", message->id,
                    message->refusals);
}
