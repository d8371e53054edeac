#include "engine/features/refusal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "engine/features/lease/lease_poll.h"
#include "engine/receive.h"
#include "engine/source.h"
#include "engine/queue/queue_facts.h"
#include "engine/features/dlq/room.h"
#include "engine/feature.h"

enum {
    CANDIDATES_MAX = 4, /* messages that are examined for one with another key */
    SKIPPED_MAX = 64,   /* messages that are skipped in one turn to find one that can be tried */
};

/* ---- the list of refused messages ---- */

struct refused {
    uint64_t seq;
    uint64_t after; /* the queue's last hand-over when it was refused */
};

static void note(struct queue *queue, uint64_t seq, uint64_t after) {
    for (size_t i = 0; i < queue->refused_count; i++)
        if (queue->refused[i].seq == seq)
            return;
    if (queue->refused_count == queue->refused_cap) {
        queue->refused_cap = queue->refused_cap ? queue->refused_cap * 2 : 16;
        queue->refused = memory_grow(queue->refused, queue->refused_cap * sizeof *queue->refused);
    }
    queue->refused[queue->refused_count++] = (struct refused){seq, after};
}

static uint64_t remove_noted(struct queue *queue, size_t index) {
    uint64_t seq = queue->refused[index].seq;
    queue->refused_count--;
    memmove(queue->refused + index, queue->refused + index + 1,
            (queue->refused_count - index) * sizeof *queue->refused);
    return seq;
}

/* The first from `index` on that a later success counts for, because that hand-over began after the
 * refusal. refused_count: there is none. */
static size_t find_proven(const struct queue *queue, size_t index) {
    while (index < queue->refused_count &&
           !opinion_proves(&queue->opinion, queue->refused[index].after))
        index++;
    return index;
}

static bool has_proven(const struct queue *queue) {
    return find_proven(queue, 0) < queue->refused_count;
}

/* NULL: there is none, or all have been buried, discarded or blocked by their key meanwhile. */
static struct message *next_refused(struct queue *queue, bool proven) {
    struct store *store = queue->engine->store;
    size_t index = proven ? find_proven(queue, 0) : 0;
    while (index < queue->refused_count) {
        uint64_t seq = remove_noted(queue, index);
        struct message *held = store->vtable->take_one(store, queue->number, seq);
        if (held)
            return held;
        index = proven ? find_proven(queue, index) : index;
    }
    return NULL;
}

bool refusal_sets_aside(struct queue *queue, struct message *held) {
    if (!held->envelope.refused || held->envelope.to_origin)
        return false;
    note(queue, held->seq, queue->opinion.refused_at);
    queue->engine->store->vtable->give_back(queue->engine->store, held, MONO_NEVER);
    queue_visit(queue);
    return true;
}

void refusal_settled(const struct attempt *attempt) {
    const struct envelope *envelope = &attempt->held->envelope;
    bool waits = envelope->state == STATE_QUEUED || envelope->state == STATE_PENDING_RETRY ||
                 envelope->state == STATE_REPLAYING;
    if (envelope->refused && waits && !attempt->duplicate && !attempt->skipped)
        note(attempt->queue, attempt->stored_as ? attempt->stored_as : attempt->held->seq,
             attempt->refused_after ? attempt->refused_after : attempt->queue->opinion.refused_at);
}

/* ---- outcomes of hand-overs ---- */

void refusal_forget(const struct attempt *attempt) {
    if (attempt->queue->asked == attempt)
        attempt->queue->asked = NULL;
}

/* A fallback's success says nothing about the first handler's credentials. */
static enum opinion_answer answer_of(const struct attempt *attempt,
                                     const struct decision *decision) {
    if (decision->action == ACTION_DONE)
        return attempt->handler == 0 ? OPINION_SUCCESS : OPINION_NOTHING;
    if (decision->action == ACTION_HALT || decision->suspect)
        return OPINION_FAILURE;
    return attempt->outcome.ending == ENDING_INTERRUPTED || decision->breaker_failure ||
                   attempt->handler > 0
               ? OPINION_NOTHING
               : OPINION_FAILURE;
}

void refusal_ended(struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    struct mono now = queue->engine->now.mono;
    queue->idle_since = now;
    refusal_forget(attempt);
    if (attempt->before) /* a compensation has a handler of its own */
        return;
    if (attempt->confirming)
        opinion_confirmed(&queue->opinion);
    opinion_answered(&queue->opinion, attempt->number, answer_of(attempt, decision), now);
}

static void halt(struct queue *queue, const char *why) {
    opinion_reset(&queue->opinion, queue->begun);
    queue_halt(queue, why);
}

static void refuse(struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    char memory[sizeof queue->refused_why * 2];
    struct buf why;
    buf_init_fixed(&why, memory, sizeof memory);
    judge_why(attempt, decision, &why);
    if (!decision->suspect) {
        halt(queue, buf_cstr(&why));
        return;
    }
    attempt->refused_after = queue->begun;
    bool check = queue->state == QUEUE_RUNNING && !queue->engine->stopping;
    bool begins = check && queue->opinion.stage == OPINION_NONE;
    opinion_refused(&queue->opinion, queue->begun, queue->engine->now.mono, check);
    if (!begins)
        return;
    snprintf(queue->refused_why, sizeof queue->refused_why, "%s", buf_cstr(&why));
    queue->refused_key = BYTES_NONE;
    if (attempt->held->envelope.key.len <= sizeof queue->refused_key_text) {
        struct bytes key = attempt->held->envelope.key;
        memcpy(queue->refused_key_text, key.ptr ? key.ptr : "", key.len);
        queue->refused_key = (struct bytes){key.ptr ? queue->refused_key_text : NULL, key.len};
    }
    log_about(LOG_WARN, QUEUE_ABOUT(queue), "refused, another message is tried before it halts: %s",
              queue->refused_why);
}

static void count_death(struct attempt *attempt, const struct decision *decision) {
    struct queue *queue = attempt->queue;
    char memory[sizeof queue->refused_why * 2];
    struct buf why;
    bool halts = opinion_died(&queue->opinion, attempt->by_id.hash, queue->engine->now.mono);
    queue_facts_changed(queue);
    if (!halts)
        return;
    buf_init_fixed(&why, memory, sizeof memory);
    buf_printf(&why, "%d messages were refused and dead-lettered within 10 minutes, the last: ",
               OPINION_DEATHS_MAX);
    judge_why(attempt, decision, &why);
    halt(queue, buf_cstr(&why));
}

void refusal_judged(struct attempt *attempt, const struct decision *decision) {
    struct envelope *envelope = &attempt->held->envelope;
    bool interrupted = attempt->outcome.ending == ENDING_INTERRUPTED;
    envelope->refused = decision->action == ACTION_HALT || (envelope->refused && interrupted);
    if (decision->action == ACTION_HALT)
        refuse(attempt, decision);
    else if (decision->action == ACTION_DEAD && decision->suspect && attempt->confirming)
        count_death(attempt, decision);
}

void refusal_resume(struct queue *queue) {
    opinion_reset(&queue->opinion, queue->begun);
    queue->idle_since = queue->engine->now.mono;
}

/* ---- the facts ---- */

void refusal_put(const struct queue *queue, struct json_out *json) {
    const struct second_opinion *opinion = &queue->opinion;
    struct instant now = queue->engine->now;
    if (opinion->death_count == 0)
        return;
    json_key(json, "refused_dead");
    json_open(json, '[');
    for (size_t i = 0; i < opinion->death_count; i++) {
        json_open(json, '{');
        json_key(json, "message");
        json_put_i64(json, (int64_t)opinion->deaths[i].message);
        json_key(json, "at");
        json_put_i64(json, now.wall.ms - (now.mono.ms - opinion->deaths[i].at.ms));
        json_close(json, '}');
    }
    json_close(json, ']');
}

/* If the wall clock was set back, the death counts as having just happened. */
static void load_death(struct queue *queue, struct json death) {
    struct instant now = queue->engine->now;
    struct json value;
    int64_t message, at;
    if (!json_get(death, "message", &value) || !json_i64(value, &message) ||
        !json_get(death, "at", &value) || !json_i64(value, &at) ||
        at <= now.wall.ms - OPINION_DEATHS_MS)
        return;
    int64_t ago = at < now.wall.ms ? now.wall.ms - at : 0;
    opinion_died(&queue->opinion, (uint64_t)message, (struct mono){now.mono.ms - ago});
}

void refusal_load(struct queue *queue, struct json facts) {
    struct json list;
    if (!json_get(facts, "refused_dead", &list) || list.type != JSON_ARRAY)
        return;
    for (struct json_walk walk = json_walk(list); json_step(&walk);)
        load_death(queue, walk.value);
}

/* ---- handing over ---- */

/* Slots in use by our own slow calls do not halt the queue; workers that do not fetch do. */
static bool has_place(struct queue *queue) {
    if (queue->running >= queue->rules.concurrency)
        refusal_hold(queue);
    return feed_has_slot(queue) && (!queue_leases(queue) || lease_poll_has_place(queue, true));
}

static bool has_other_key(const struct queue *queue, const struct message *held) {
    return !queue->refused_key.ptr || !held->envelope.key.ptr ||
           !bytes_eq(held->envelope.key, queue->refused_key);
}

/* Taken from the far end of the waiting messages: a message near the refused one may be like it.
 * Messages that are not chosen go back in their former order. */
static struct message *take_far(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct message *held[CANDIDATES_MAX];
    size_t chosen = 0;
    size_t got =
        store->vtable->take(store, queue->number, TAKE_FAR, engine->now, held, CANDIDATES_MAX);
    while (chosen < got && (held[chosen]->envelope.refused || !has_other_key(queue, held[chosen])))
        chosen++;
    if (chosen == got)
        chosen = 0;
    for (size_t i = got; i-- > 0;)
        if (i != chosen)
            store->vtable->give_back(store, held[i], engine->now.mono);
    return got > 0 ? held[chosen] : NULL;
}

/* A message that may be handed over now; replaying letters only if nothing else waits. */
static struct message *next_other(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct message *held = NULL;
    bool fresh = !room_stops_receiving(queue);
    if (fresh)
        held = take_far(queue);
    if (!held && fresh && source_is_server(queue) &&
        opinion_receives(&queue->opinion, engine->now.mono))
        receive_messages(queue, &held, 1);
    if (!held)
        store->vtable->take(store, queue->number, TAKE_DUE, engine->now, &held, 1);
    return held;
}

static void ask(struct queue *queue) {
    if (!has_place(queue))
        return;
    for (int skipped = 0; skipped < SKIPPED_MAX; skipped++) {
        struct message *held = next_other(queue);
        if (!held)
            return;
        if (!refusal_sets_aside(queue, held) && feed_alone(queue, held, false))
            return;
    }
    queue_visit(queue);
}

/* The refused message's commit must be durable first. */
static void confirm(struct queue *queue) {
    if (!has_place(queue))
        return;
    struct message *held = next_refused(queue, true);
    if (held) {
        feed_alone(queue, held, true);
    } else if (queue->settling == 0) {
        opinion_confirmed(&queue->opinion);
        queue_visit(queue);
    }
}

void refusal_hold(struct queue *queue) {
    opinion_hold(&queue->opinion);
}

bool refusal_feed(struct queue *queue) {
    if (queue->opinion.stage == OPINION_NONE)
        return true;
    if (queue->asked)
        return false;
    bool closed = queue->breaker.state == BREAKER_CLOSED;
    if (queue->breaker.state == BREAKER_OPEN || (!closed && queue->running > 0))
        refusal_hold(queue);
    switch (opinion_step(&queue->opinion, queue->engine->now.mono)) {
    case OPINION_RUN:
        return true;
    case OPINION_HALT:
        halt(queue, queue->refused_why);
        return false;
    case OPINION_ASK:
        if (closed)
            ask(queue);
        break;
    case OPINION_CONFIRM:
        if (closed)
            confirm(queue);
        break;
    }
    if (!closed)
        feed_probes(queue);
    return false;
}

void refusal_feed_proven(struct queue *queue) {
    if (queue->asked || !has_proven(queue) || !has_place(queue))
        return;
    struct message *held = next_refused(queue, true);
    if (held)
        feed_alone(queue, held, true);
}

/* ---- without another message ---- */

/* A message that waits for its retry counts: if it succeeds, refused messages are confirmed. */
static bool another_waits(struct queue *queue) {
    struct store *store = queue->engine->store;
    struct mono ready = store->vtable->next_ready(store, queue->number, TAKE_READY);
    return ready.ms <= queue->engine->now.mono.ms ||
           store->vtable->next_ready(store, queue->number, TAKE_DUE).ms != MONO_NEVER.ms;
}

/* A broker may be about to deliver a message. */
static struct mono quiet_from(const struct queue *queue) {
    return mono_after(queue->idle_since, source_is_server(queue) ? OPINION_RECEIVE_MS : 0);
}

static bool is_last(struct queue *queue) {
    return queue->refused_count > 0 && !queue->asked && queue->running == 0 &&
           queue->arriving == 0 && queue->settling == 0;
}

void refusal_feed_last(struct queue *queue) {
    if (!is_last(queue) || has_proven(queue) || another_waits(queue) ||
        queue->engine->now.mono.ms < quiet_from(queue).ms || !has_place(queue))
        return;
    struct message *held = next_refused(queue, false);
    if (held)
        feed_alone(queue, held, false);
}

/* No other message is there to probe with: a round that waits for more messages would never end. */
void refusal_probe(struct queue *queue) {
    bool proven = has_proven(queue);
    if (queue->asked || queue->opinion.stage == OPINION_ASKING || !has_place(queue) ||
        (!proven && (!is_last(queue) || another_waits(queue))))
        return;
    struct message *held = next_refused(queue, proven);
    if (held)
        feed_alone(queue, held, proven);
}

/* ---- the next wake-up ---- */

static struct mono later(struct mono at, struct mono now) {
    return at.ms > now.ms ? at : MONO_NEVER;
}

struct mono refusal_next_wake(struct queue *queue) {
    struct engine *engine = queue->engine;
    struct store *store = engine->store;
    struct mono now = engine->now.mono;
    if (queue->opinion.stage == OPINION_NONE)
        return is_last(queue) ? later(quiet_from(queue), now) : MONO_NEVER;
    if (queue->opinion.stage == OPINION_CONFIRMING || queue->asked)
        return MONO_NEVER;
    struct mono at = opinion_next_wake(&queue->opinion, now);
    at = mono_earlier(at, later(store->vtable->next_ready(store, queue->number, TAKE_DUE), now));
    return mono_earlier(at, later(receive_next_wake(queue), now));
}

/* ---- the feature ---- */

static void settled(struct attempt *attempt) {
    refusal_settled(attempt);
}

static void freed(struct attempt *attempt) {
    refusal_forget(attempt);
}

static void resumed(struct queue *queue) {
    if (queue->state != QUEUE_RUNNING) /* a check in progress goes on */
        refusal_resume(queue);
}

static void save(struct queue *queue, struct json_out *facts) {
    refusal_put(queue, facts);
}

static void load(struct queue *queue, struct json facts, struct arena *arena) {
    (void)arena;
    refusal_load(queue, facts);
}

static void end(struct queue *queue) {
    free(queue->refused);
}

const struct engine_feature refusal_feature = {
    .name = "refusal",
    .ended = refusal_ended,
    .judged = refusal_judged,
    .settled = settled,
    .freed = freed,
    .resumed = resumed,
    .save = save,
    .load = load,
    .end = end,
};
