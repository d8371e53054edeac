/* triage_pick: see the header. */
#include "triage/rules/triage_pick.h"

#include <assert.h>

#include "core/comeback.h"
#include "core/decide.h"
#include "core/pointer.h"
#include "triage/archive/archiving.h"
#include "triage/decide/decision.h"

/* Letters that a run examines, taken or not: other rules wait for it. A page of a `where` is as
 * long as that. */
enum { LOOKS_MAX = QUERY_WHERE_SCAN_MAX, PAGES_MAX = LOOKS_MAX / QUERY_LIMIT_MAX };

struct picking {
    const struct triage_pick *pick;
    struct arena *arena;
    struct triage_picked *out;
    size_t limit;
    uint64_t bytes;
    struct bytes queue; /* of the last letter examined */
    bool queue_known;
    enum status status;
    struct err *err;
};

/* ---- the query ---- */

/* A letter that died before the lifetime began failed first even earlier. */
static struct wall since_of(const struct triage_pick *pick) {
    int64_t oldest = pick->now.ms - pick->rule->lifetime_ms;
    return (struct wall){pick->rule->action == TRIAGE_REPLAY && oldest > 0 ? oldest : 0};
}

static void make_query(const struct triage_pick *pick, struct selection *out) {
    const struct triage_when *when = &pick->rule->when;
    selection_init(out);
    out->filtered = true;
    out->by_rule = true;
    out->page_max = when->where.len > 0 ? 1 : PAGES_MAX;
    out->query.where = when->where;
    out->query.filter = (struct letters_query){
        .dlq = pick->dlq->name,
        .states = 1u << STATE_PENDING_REVIEW,
        .category = when->category,
        .reason_prefix = when->reason,
        .error_type = when->error_type,
        .key = when->key,
        .has_cause = when->has_cause,
        .cause = when->cause,
        .has_fingerprint = when->has_fingerprint,
        .fingerprint = when->fingerprint,
        .since = since_of(pick),
        .until = {when->age_ms > 0 ? pick->now.ms - when->age_ms : 0},
        .min_attempts = when->attempts,
        .escalated = LETTERS_NO,
        .letters = true,
        .oldest_first = true,
    };
}

/* ---- conditions on the current letter; lists may lag ---- */

static bool is(struct bytes wanted, struct bytes actual) {
    return wanted.len == 0 || bytes_eq(wanted, actual);
}

static bool matches(const struct triage_pick *pick, const struct envelope *letter) {
    const struct triage_when *when = &pick->rule->when;
    return is(when->category, letter->category) &&
           decide_reason_matches(letter->reason, when->reason) &&
           is(when->error_type, letter->error_type) && is(when->key, letter->key) &&
           is(when->task_type, letter->task_type) &&
           (!when->has_cause || letter->cause == when->cause) &&
           (!when->has_fingerprint || letter->fingerprint == when->fingerprint) &&
           (when->age_ms == 0 || pick->now.ms - letter->dead_at.ms > when->age_ms) &&
           letter->replays >= when->replays_least && letter->replays <= when->replays_most &&
           letter->attempts >= when->attempts;
}

/* A replay with such a letter would be refused as a whole: the letter has no body, or its body may
 * be another message's, which a person must check before it is sent to its origin. */
static bool is_refused(const struct triage_rule *rule, const struct envelope *letter) {
    if (rule->edit.len == 0 && letter->body_damaged)
        return true;
    if (bytes_is(rule->to, COMEBACK_ORIGIN))
        return pointer_is_gone(letter->source) || pointer_is_doubtful(letter->source);
    return rule->edit.len == 0 && pointer_is_empty(letter);
}

static bool may_be_sent(const struct triage_pick *pick, const struct envelope *letter) {
    struct wall first = letter->first_failure_at;
    if (first.ms == WALL_NEVER.ms)
        first = letter->dead_at;
    bool fresh =
        pick->dlq->fresh_ms == 0 || pick->now.ms - letter->created_at.ms <= pick->dlq->fresh_ms;
    return fresh && pick->now.ms - first.ms <= pick->rule->lifetime_ms &&
           !is_refused(pick->rule, letter);
}

static bool is_wanted(const struct triage_pick *pick, const struct envelope *letter) {
    if (letter->state != STATE_PENDING_REVIEW || letter->escalated_at.ms != WALL_NEVER.ms ||
        !bytes_eq(letter->dlq, pick->dlq->name) || !matches(pick, letter))
        return false;
    if (pick->rule->action == TRIAGE_REPLAY && !may_be_sent(pick, letter))
        return false;
    if (pick->rule->action == TRIAGE_COMPENSATE && !pick->compensates(pick->arg, letter->queue))
        return false;
    return !replays_claim(pick->replays, letter->letter_id);
}

/* A replay to a queue that is not configured would wait, and the rule with it. */
static bool has_queue(struct picking *picking, const struct message *held) {
    const struct triage_pick *pick = picking->pick;
    struct bytes queue = held->envelope.queue;
    if (pick->rule->action != TRIAGE_REPLAY || pick->rule->to.len > 0)
        return true;
    if (!bytes_eq(queue, picking->queue)) {
        picking->queue = arena_dup(picking->arena, queue);
        picking->queue_known = replays_know(pick->replays, queue);
    }
    return picking->queue_known;
}

/* ---- taking ---- */

static bool is_enough(const struct picking *picking) {
    return picking->out->count == picking->limit || picking->bytes >= ARCHIVING_BYTES_MAX ||
           picking->status != STATUS_OK || (picking->pick->ending && *picking->pick->ending);
}

static void take(struct picking *picking, struct message *held) {
    assert(picking->out->count < picking->limit);
    struct triage_picked *out = picking->out;
    out->ids[out->count] = arena_dup(picking->arena, held->envelope.letter_id);
    out->places[out->count] =
        (struct triage_place){.seq = held->seq,
                              .queue = arena_dup(picking->arena, held->envelope.queue),
                              .key = arena_dup(picking->arena, held->envelope.key)};
    if (out->whole) {
        out->whole[out->count] = held;
        picking->bytes += held->body.len;
    } else {
        message_free(held);
    }
    out->count++;
}

/* Reads the letter again, since the list may lag. */
static bool visit(void *arg, const struct selection_letter *letter) {
    struct picking *picking = arg;
    const struct triage_pick *pick = picking->pick;
    struct store *store = pick->triage->store;
    struct message *held = NULL;
    if (!is_wanted(pick, letter->envelope))
        return !is_enough(picking);
    enum status status = letters_get_seq(store->letters, letter->seq, &held, picking->err);
    if (status == STATUS_OK && is_wanted(pick, &held->envelope) && has_queue(picking, held))
        take(picking, held);
    else
        message_free(held);
    if (status != STATUS_NOT_FOUND && status != STATUS_CORRUPT) /* a damaged letter is skipped */
        picking->status = status;
    return !is_enough(picking);
}

/* ---- order ---- */

static bool is_behind(const struct triage_place *a, const struct triage_place *b) {
    return a->key.len > 0 && a->seq > b->seq && bytes_eq(a->key, b->key) &&
           bytes_eq(a->queue, b->queue);
}

static void swap(struct triage_picked *picked, size_t a, size_t b) {
    struct triage_place place = picked->places[a];
    struct bytes id = picked->ids[a];
    picked->places[a] = picked->places[b];
    picked->ids[a] = picked->ids[b];
    picked->places[b] = place;
    picked->ids[b] = id;
}

/* Archived letters are not sent, so their order does not matter. */
static void put_keys_in_order(struct triage_picked *picked) {
    for (size_t i = 0; i < picked->count && !picked->whole; i++)
        for (size_t j = i + 1; j < picked->count; j++)
            if (is_behind(&picked->places[i], &picked->places[j]))
                swap(picked, i, j);
}

static size_t limit_of(const struct triage_rule *rule) {
    bool few = rule->action == TRIAGE_COMPENSATE && rule->limit > DECISION_COMPENSATIONS_MAX;
    return few ? DECISION_COMPENSATIONS_MAX : rule->limit;
}

enum status triage_pick(const struct triage_pick *pick, struct arena *arena,
                        struct triage_picked *out, struct err *err) {
    assert(pick->rule && pick->dlq && pick->rule->limit > 0);
    struct selection selection;
    struct selection_result walked;
    struct picking picking = {
        .pick = pick, .arena = arena, .out = out, .limit = limit_of(pick->rule), .err = err};
    bool whole = pick->rule->action == TRIAGE_ARCHIVE;
    *out = (struct triage_picked){
        .ids = arena_alloc(arena, picking.limit * sizeof *out->ids),
        .places = arena_alloc(arena, picking.limit * sizeof *out->places),
        .whole = whole ? arena_alloc(arena, picking.limit * sizeof *out->whole) : NULL};
    make_query(pick, &selection);
    enum status status =
        selection_walk(pick->triage, &selection, visit, &picking, arena, &walked, err);
    put_keys_in_order(out);
    out->skipped = walked.skipped;
    out->first_skipped = walked.first_skipped;
    return status == STATUS_OK ? picking.status : status;
}

void triage_picked_free(struct triage_picked *picked) {
    for (size_t i = 0; picked->whole && i < picked->count; i++)
        message_free(picked->whole[i]);
    picked->count = 0;
}
