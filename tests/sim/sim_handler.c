/* Handlers that do as the message's script says, when the simulated time has come. */
#include <stdio.h>

#include "world.h"

static int64_t call_lasts_ms(struct world *world, const struct sim_message *message) {
    if (message->script == SCRIPT_SLOW)
        return 5000 + (int64_t)rng_below(&world->rng, 20000);
    return 1 + (int64_t)rng_below(&world->rng, 80);
}

static void begin(struct world_queue *queue, struct call *call, struct call_group *group) {
    struct world *world = queue->world;
    struct sim_message *message = world_message(world, call->id);
    promises_on_start(world, queue, message, call);
    if (world->call_count == WORLD_CALLS_MAX) {
        world_break(world, "more calls under way than the queues' concurrency allows");
        return;
    }
    message->calls++;
    message->open_calls++;
    if (call->attempt > message->attempts_seen)
        message->attempts_seen = call->attempt;
    world->calls[world->call_count++] = (struct sim_call){
        .call = call,
        .group = group,
        .message = message,
        .began = ++world->begun,
        .ends = mono_after(world->now.mono, call_lasts_ms(world, message)),
    };
    world_say(world, "call %s attempt %u", message->id, call->attempt);
}

static void start(struct handler *handler, struct call *call) {
    begin(CONTAINER_OF(handler, struct world_queue, handler), call, NULL);
}

/* It ends when the first of its calls does. */
static void start_group(struct handler *handler, struct call_group *group) {
    struct world_queue *queue = CONTAINER_OF(handler, struct world_queue, handler);
    if (group->count > WORLD_BATCH)
        world_break(queue->world, "a batch of %zu, %d are allowed", group->count, WORLD_BATCH);
    for (size_t i = 0; i < group->count; i++)
        begin(queue, group->calls[i], group);
}

static void cancel(struct handler *handler, struct call *call) {
    struct world_queue *queue = CONTAINER_OF(handler, struct world_queue, handler);
    for (size_t i = 0; i < queue->world->call_count; i++)
        if (queue->world->calls[i].call == call)
            queue->world->calls[i].cancelled = true;
}

static void cancel_group(struct handler *handler, struct call_group *group) {
    for (size_t i = 0; i < group->count; i++)
        cancel(handler, group->calls[i]);
}

const struct handler_vtable sim_handler_vtable = {.kind = "http",
                                                  .start = start,
                                                  .cancel = cancel,
                                                  .start_group = start_group,
                                                  .cancel_group = cancel_group};
const struct handler_vtable sim_handler_inside_vtable = {
    .kind = "callback", .in_process = true, .start = start, .cancel = cancel};

static struct outcome answered(int status) {
    return (struct outcome){.ending = ENDING_FAILED,
                            .kind = KIND_STATUS,
                            .status = status,
                            .error_type = BYTES("Simulated"),
                            .error_message = BYTES("as the script says"),
                            .retry_after_ms = -1};
}

static struct outcome was_reset(void) {
    return (struct outcome){.ending = ENDING_FAILED, .kind = KIND_RESET, .retry_after_ms = -1};
}

struct outcome sim_handler_locked_out(void) {
    return answered(401);
}

struct outcome sim_handler_script(const struct sim_message *message) {
    struct outcome good = {.ending = ENDING_OK, .retry_after_ms = -1};
    struct outcome said;
    switch (message->script) {
    case SCRIPT_FLAKY:
        return message->calls > message->flaky_calls ? good : answered(503);
    case SCRIPT_VALIDATION:
        return answered(400);
    case SCRIPT_BUG:
        return answered(418);
    case SCRIPT_POISON:
        return answered(503);
    case SCRIPT_CRASHER:
        return was_reset();
    case SCRIPT_REFUSED:
        return answered(403);
    case SCRIPT_DISCARD:
        said = answered(200);
        said.has_verdict = true;
        said.verdict = VERDICT_DISCARD;
        said.reason = BYTES("not_wanted");
        return said;
    case SCRIPT_GOOD:
    case SCRIPT_SLOW:
    case SCRIPT_KILLER:
    case SCRIPT_COUNT:
        break;
    }
    return good;
}

static struct outcome outcome_of(struct world *world, const struct sim_call *call) {
    if (call->cancelled)
        return (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    if (!world->outage && world->locked_out)
        return sim_handler_locked_out();
    if (!world->outage)
        return sim_handler_script(call->message);
    bool inside = call->message->queue == WORLD_CALLBACK_QUEUE;
    if (world->outage_status || inside)
        return answered(world->outage_status ? world->outage_status : 503);
    return was_reset();
}

/* What of the answers counts for the breaker (SEMANTICS 4.1), as far as scripts give it. */
static bool is_sick(const struct sim_message *message, const struct outcome *outcome) {
    if (outcome->ending != ENDING_FAILED)
        return false;
    if (message->queue == WORLD_CALLBACK_QUEUE) /* what is judged retry */
        return outcome->status == 503;
    return outcome->kind == KIND_RESET || outcome->status >= 500;
}

static bool is_among(const struct world_queue *queue, const struct sim_message *message) {
    for (size_t i = 0; i < queue->failing_count; i++)
        if (queue->failing[i] == message)
            return true;
    return false;
}

/* Of a failure before this life it is not known here whether a success came since. */
static bool others_succeeded(const struct world *world, const struct sim_message *message) {
    const struct world_queue *queue = &world->queues[message->queue];
    if (message->failed_after == 0)
        return false;
    return queue->successes > 0 &&
           (message->failed_life != world->lives || queue->successes > message->failed_after - 1);
}

/* With evidence of an outage a failure while the breaker is not closed must not be its end. Of a
 * batch only what failed alone is evidence here: the engine may look at the others again first. */
static void see_health(struct world *world, struct sim_message *message,
                       const struct outcome *outcome, bool alone) {
    struct world_queue *queue = &world->queues[message->queue];
    bool sick = is_sick(message, outcome), known = is_among(queue, message);
    message->spared = world->outage && sick && queue->breaker != BREAKER_CLOSED &&
                      queue->failing_count + !known >= BREAKER_EVIDENCE &&
                      !others_succeeded(world, message);
    message->doubted += sick && queue->failing_count + !known < BREAKER_EVIDENCE;
    if (sick && alone && !known && queue->failing_count < BREAKER_EVIDENCE)
        queue->failing[queue->failing_count++] = message;
    if (!sick && outcome->ending != ENDING_INTERRUPTED)
        queue->failing_count = 0;
    if (outcome->ending == ENDING_OK)
        queue->successes++;
    if (outcome->ending == ENDING_FAILED) {
        message->failed_after = queue->successes + 1;
        message->failed_life = world->lives;
    }
}

static void see_end(struct world *world, struct sim_message *message, uint64_t began,
                    const struct outcome *outcome, bool alone) {
    message->open_calls--;
    refusals_on_end(world, message, began, outcome);
    message->met_outage |= world->outage;
    see_health(world, message, outcome, alone);
    if (outcome->ending == ENDING_OK) {
        message->succeeded++;
        message->succeeded_life = world->lives;
        message->succeeded_replay = message->replay;
    }
    world_say(world, "answer %s %s %d", message->id, outcome->ending == ENDING_OK ? "ok" : "failed",
              outcome->status);
}

/* A handler that knows nothing of items fails as a whole by one that it can do nothing with; what
 * would only burn its neighbours' attempts is always listed. */
static bool fails_whole(struct world *world, const struct outcome *item) {
    bool busy = item->ending == ENDING_FAILED && item->kind == KIND_STATUS && item->status == 503;
    if (item->ending == ENDING_OK || (busy && !world->outage))
        return false;
    return item->ending == ENDING_INTERRUPTED || item->kind == KIND_RESET || world->outage ||
           rng_below(&world->rng, 2);
}

static struct sim_call take(struct world *world, const struct call *call) {
    size_t i = 0;
    while (world->calls[i].call != call)
        i++;
    struct sim_call taken = world->calls[i];
    world->calls[i] = world->calls[--world->call_count];
    return taken;
}

static void complete_group(struct world *world, struct call_group *group) {
    struct outcome items[WORLD_BATCH], whole = {.ending = ENDING_OK, .retry_after_ms = -1};
    struct sim_message *messages[WORLD_BATCH];
    uint64_t began[WORLD_BATCH];
    for (size_t i = 0; i < group->count; i++) {
        struct sim_call taken = take(world, group->calls[i]);
        messages[i] = taken.message;
        began[i] = taken.began;
        items[i] = outcome_of(world, &taken);
        if (whole.ending == ENDING_OK && fails_whole(world, &items[i]))
            whole = items[i];
    }
    for (size_t i = 0; i < group->count; i++) {
        messages[i]->split = whole.ending == ENDING_FAILED && group->count > 1;
        see_end(world, messages[i], began[i], whole.ending == ENDING_OK ? &items[i] : &whole,
                group->count == 1);
    }
    group->done(group, &whole, whole.ending == ENDING_OK ? items : NULL);
}

void sim_handler_complete(struct world *world, size_t index) {
    struct sim_call done = world->calls[index];
    if (done.message->script == SCRIPT_KILLER) {
        world->killed = true;
        return;
    }
    if (done.group) {
        complete_group(world, done.group);
        return;
    }
    struct outcome outcome = outcome_of(world, &done);
    world->calls[index] = world->calls[--world->call_count];
    see_end(world, done.message, done.began, &outcome, true);
    if (outcome.ending == ENDING_OK && done.call->wants_answer)
        outcome.answer = bytes_of(done.message->id);
    done.call->done(done.call, &outcome);
}

/* The server died: nobody waits for the answers any more. Some of the work was done all the same.
 */
void sim_handler_drop_all(struct world *world) {
    for (size_t i = 0; i < world->call_count; i++) {
        struct sim_message *message = world->calls[i].message;
        struct outcome outcome = outcome_of(world, &world->calls[i]);
        message->open_calls--;
        if (message->script != SCRIPT_KILLER && outcome.ending == ENDING_OK &&
            rng_below(&world->rng, 2))
            message->succeeded++;
    }
    world->call_count = 0;
}
