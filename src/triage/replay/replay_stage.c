/* replay_stage: the state machine of a replay.
 *
 *   planned ──▶ canary ──▶ ramp ──▶ running ──▶ done          paused: by a person
 *      ▲          └──────────┴────────┴──▶ aborted            waiting: its queue cannot take
 * letters └── resume, and whenever a wait is over
 *
 * The canary stage follows from the counts alone: it lasts while fewer letters than its size were
 * sent, or one of them is in flight. So a restart continues in the same stage. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "triage/query/audit.h"
#include "triage/replay/replay_state.h"

#define BY_ITSELF "impound" /* `who` of an automatic abort, in the audit log */

enum { AUDIT_AFTER_MAX = 1 << 20, DLQ_ARENA_CHUNK = 4096, SHARE_LEAST = 1 };

/* ---- end ---- */

static void audit(struct replay *replay, const char *what, struct bytes who, uint64_t count) {
    struct triage *triage = replay->replays->triage;
    struct buf after;
    buf_init_heap(&after, AUDIT_AFTER_MAX);
    replay_doc_put(replay, &after);
    struct audit_entry entry = {.who = who,
                                .what = what,
                                .why = bytes_of(replay->why),
                                .subject = bytes_of(replay->id),
                                .filter = replay->order.selection.as_json,
                                .count = count,
                                .after = buf_view(&after)};
    audit_begin(triage, &entry);
    replay->last_words = audit_op(&entry, &replay->arena).keep;
    buf_free(&after);
}

static void end(struct replay *replay, enum replay_state state, const char *why) {
    assert(state == REPLAY_DONE || state == REPLAY_ABORTED);
    replay->ended_at = replay->replays->now.wall;
    replay_set_state(replay, state, why);
    /* Commit at once, not after REPLAY_SECOND_MS. */
    replay->written_at.ms = INT64_MIN / 2;
}

void replay_note_relapse(const struct replay *replay) {
    struct replays *replays = replay->replays;
    struct replays_relapse *relapse =
        &replays->relapses[replays->relapse_count++ % REPLAYS_RELAPSES_MAX];
    *relapse = (struct replays_relapse){.at = replay->ended_at};
    snprintf(relapse->id, sizeof relapse->id, "%s", replay->id);
    snprintf(relapse->why, sizeof relapse->why, "%s", replay->why);
    if (replay->queue_count > 0)
        snprintf(relapse->queue, sizeof relapse->queue, "%.*s",
                 BYTES_ARG(bytes_clip(replay->queues[0], sizeof relapse->queue - 1)));
}

/* Letters that were not sent stay pending_review; those in flight end as they do. */
void replay_abort(struct replay *replay, struct bytes who, struct bytes why) {
    char text[REPLAY_WHY_MAX];
    if (replay_is_over(replay))
        return;
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(bytes_clip(why, sizeof text - 1)));
    end(replay, REPLAY_ABORTED, text);
    replay->replays->totals.aborted++;
    replay->relapsed = bytes_is(who, BY_ITSELF);
    if (replay->relapsed)
        replay_note_relapse(replay);
    audit(replay, "replay.abort", who, replay->counts.by[REPLAYED_RESOLVED]);
}

static bool is_finished(const struct replay *replay) {
    return replay->next == replay->selected && list_empty(&replay->window) &&
           replay->under_way.count == 0;
}

static void finish(struct replay *replay) {
    assert(is_finished(replay));
    end(replay, REPLAY_DONE, "");
    audit(replay, "replay.done", BYTES(BY_ITSELF), replay->counts.by[REPLAYED_RESOLVED]);
}

/* ---- stages ---- */

/* Letters that the current canary stage may still send; false: the canary is over. */
static bool canary_room(const struct replay *replay, uint64_t *room) {
    uint64_t sent = replay_sent(&replay->counts), until = 0;
    for (size_t i = 0; i < replay->order.canary_count; i++) {
        until += replay->order.canary[i];
        bool under_way = replay->counts.by[REPLAYED_SENT] > 0;
        if (sent < until || (sent == until && under_way)) {
            *room = until - sent > replay->going ? until - sent - replay->going : 0;
            return true;
        }
    }
    return false;
}

static bool in_canary(const struct replay *replay) {
    uint64_t until = 0;
    for (size_t i = 0; i < replay->order.canary_count; i++)
        until += replay->order.canary[i];
    return replay_sent(&replay->counts) <= until;
}

static double target_of(const struct replay *replay, const struct replay_queue *queue) {
    const struct replay_rate *rate = &replay->order.rate;
    double share = queue->usual_per_second * rate->value / 100;
    switch (rate->kind) {
    case REPLAY_RATE_FIXED:
        return rate->value;
    case REPLAY_RATE_SHARE:
        return share > SHARE_LEAST ? share : SHARE_LEAST;
    case REPLAY_RATE_UNLIMITED:
        break;
    }
    return 0;
}

/* ---- its queue ---- */

static const char *why_blocked(const struct replay_queue *queue, bool to_origin,
                               char text[REPLAY_WHY_MAX]) {
    if (to_origin && queue->cut_off[0])
        return queue->cut_off;
    if (queue->blocked[0] || queue->lag <= queue->max_lag)
        return queue->blocked;
    snprintf(text, REPLAY_WHY_MAX, "the queue's lag is %llu, above max_lag %llu",
             (unsigned long long)queue->lag, (unsigned long long)queue->max_lag);
    return text;
}

/* All recently seen consumers must have the version, since any of them may get a letter. Empty:
 * they do. */
static const char *why_version(const struct replay *replay, const struct replay_queue *queue,
                               char text[REPLAY_WHY_MAX]) {
    struct version_rule rule;
    struct buf seen;
    bool all = queue->version_count > 0;
    if (replay->order.when_version.len == 0 ||
        !version_rule_parse(replay->order.when_version, &rule))
        return "";
    buf_init_fixed(&seen, text, REPLAY_WHY_MAX - 1);
    buf_printf(&seen, "it waits for consumers of version %.*s; seen: ",
               BYTES_ARG(bytes_clip(replay->order.when_version, VERSION_TEXT_MAX)));
    for (size_t i = 0; i < queue->version_count; i++) {
        all = all && version_matches(&rule, bytes_of(queue->versions[i]));
        buf_printf(&seen, "%s%.20s", i ? ", " : "", queue->versions[i]);
    }
    if (queue->version_count == 0)
        buf_str(&seen, "none yet");
    text[seen.len] = '\0';
    return all ? "" : text;
}

/* The queue that the next letter is sent to. */
static struct bytes next_queue(struct replay *replay) {
    uint32_t at;
    if (replay->next == replay->selected)
        return replay_order_queue(&replay->order, BYTES_NONE);
    struct replay_part *part = replay_part_of(replay, replay->next, &at);
    return part ? replay_order_queue(&replay->order, part->letters[at].queue) : BYTES_NONE;
}

static void check_queue(struct replay *replay) {
    const struct replay_around *around = &replay->replays->around;
    struct mono now = replay->replays->now.mono;
    struct replay_queue queue = {.max_lag = UINT64_MAX};
    char text[REPLAY_WHY_MAX];
    struct bytes name = next_queue(replay);
    replay->looked_at = now;
    replay->blocked[0] = '\0';
    if (name.len == 0)
        return;
    bool to_origin = replay_order_to_origin(&replay->order);
    if (around->queue(around->arg, name, &queue))
        snprintf(replay->blocked, sizeof replay->blocked, "%s",
                 why_blocked(&queue, to_origin, text));
    else if (!to_origin)
        snprintf(replay->blocked, sizeof replay->blocked, "queue \"%.*s\" is no longer configured",
                 BYTES_ARG(bytes_clip(name, 100)));
    if (!replay->blocked[0])
        snprintf(replay->blocked, sizeof replay->blocked, "%s", why_version(replay, &queue, text));
    replay->pace.target = target_of(replay, &queue);
    replay->under_way_max = (size_t)queue.concurrency * REPLAY_UNDER_WAY_TIMES;
    if (replay->under_way_max < REPLAY_UNDER_WAY_LEAST)
        replay->under_way_max = REPLAY_UNDER_WAY_LEAST;
}

/* Starts the ramp anew, at the beginning and after each wait. */
static void begin_ramp(struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    double target = replay->pace.target;
    send_rate_begin(&replay->pace, target, replay->order.ramp, now);
    failure_guard_begin(&replay->relapse, now);
    replay->dlq_total = 0;
    if (replay->started_at.ms == WALL_NEVER.ms)
        replay->started_at = replay->replays->now.wall;
}

/* True: nothing can be sent now; the state says why. */
static bool waits(struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    if (replay->looked_at.ms == 0 || now.ms - replay->looked_at.ms >= REPLAY_LOOK_MS)
        check_queue(replay);
    if (!replay->blocked[0] && replay->refused[0])
        snprintf(replay->blocked, sizeof replay->blocked, "%s", replay->refused);
    if (replay->blocked[0] && !replay_is_over(replay))
        replay_set_state(replay, REPLAY_WAITING, replay->blocked);
    return replay->blocked[0] != '\0';
}

/* ---- its DLQs ---- */

static uint64_t arrived(const struct replay *replay) {
    struct store *store = replay->replays->triage->store;
    uint64_t total = 1; /* never 0, which means unknown */
    for (size_t i = 0; i < replay->dlq_count; i++) {
        struct arena arena;
        struct letters_dlq dlq;
        arena_init_heap(&arena, DLQ_ARENA_CHUNK);
        if (letters_dlq(store->letters, replay->dlqs[i], replay->replays->now.wall, &arena, &dlq,
                        NULL) == STATUS_OK)
            total += dlq.total;
        arena_free(&arena);
    }
    return total;
}

static void check_dlqs(struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    if (now.ms - replay->second_at.ms < REPLAY_SECOND_MS && replay->dlq_total > 0)
        return;
    uint64_t total = arrived(replay);
    if (replay->dlq_total > 0 && total > replay->dlq_total)
        failure_guard_refilled(&replay->relapse, now, total - replay->dlq_total);
    replay->dlq_total = total;
    replay->second_at = now;
}

static void abort_if_worse(struct replay *replay) {
    char memory[REPLAY_WHY_MAX];
    struct buf why;
    if (!replay->order.guarded)
        return;
    buf_init_fixed(&why, memory, sizeof memory);
    check_dlqs(replay);
    if (failure_guard_is_here(&replay->relapse, replay->replays->now.mono, &why))
        replay_abort(replay, BYTES(BY_ITSELF), buf_view(&why));
}

/* ---- sending ---- */

/* Letters that are sent cannot be called back by an abort, so that only a few are in flight. */
static bool is_full(const struct replay *replay) {
    return replay->going + replay->under_way.count >= replay->under_way_max ||
           replay->going >= REPLAY_WINDOW_MAX || replay->window_bytes >= REPLAY_WINDOW_BYTES;
}

static void prepare_letters(struct replay *replay, uint64_t room) {
    assert(!replay_is_over(replay) && replay->next <= replay->selected);
    while (room > 0 && replay->next < replay->selected && !is_full(replay) &&
           replay->preparing < REPLAY_PREPARING_MAX) {
        uint32_t at;
        struct replay_part *part = replay_part_of(replay, replay->next, &at);
        if (!part)
            return;
        uint64_t place = replay->next++;
        if (replay_part_outcome(part, at) != REPLAYED_WAITING)
            continue;
        size_t going = replay->going;
        replay_ready(replay, place, &part->letters[at]);
        room -= replay->going > going;
    }
}

static uint64_t room_now(struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    uint64_t room;
    if (canary_room(replay, &room)) {
        replay_set_state(replay, REPLAY_CANARY, "");
        send_rate_begin(&replay->pace, replay->pace.target, replay->order.ramp, now);
        return room;
    }
    replay_set_state(replay,
                     send_rate_is_ramping(&replay->pace, now) ? REPLAY_RAMP : REPLAY_RUNNING, "");
    uint32_t may = send_rate_room(&replay->pace, now, REPLAY_WINDOW_MAX);
    return may > replay->going ? may - replay->going : 0;
}

static void advance_active(struct replay *replay) {
    bool rested = replay->state == REPLAY_PLANNED || replay->state == REPLAY_WAITING ||
                  replay->state == REPLAY_PAUSED;
    if (waits(replay))
        return;
    if (rested || replay->pace.began.ms == 0)
        begin_ramp(replay);
    replay_drop_watched(replay);
    abort_if_worse(replay);
    if (!replay_is_over(replay))
        prepare_letters(replay, room_now(replay));
}

static struct mono next_wake(struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    struct mono second = mono_after(now, REPLAY_SECOND_MS);
    if (replay->committing || replay->closed)
        return MONO_NEVER;
    if (replay->again.ms > now.ms)
        return replay->again;
    if (replay->state == REPLAY_WAITING)
        return mono_after(now, REPLAY_WAIT_MS);
    uint64_t room;
    if (replay_is_over(replay) || replay->state == REPLAY_PAUSED || is_full(replay) ||
        replay->next == replay->selected || canary_room(replay, &room))
        return second;
    return mono_earlier(second, send_rate_next(&replay->pace));
}

/* After an abort, ready letters that are not sent stay pending_review. */
static void drop_unsent(struct replay *replay) {
    assert(replay->state == REPLAY_ABORTED && !replay->committing);
    LIST_EACH_SAFE(node, &replay->window) {
        struct sending *sending = CONTAINER_OF(node, struct sending, link);
        struct bytes own = sending->held ? sending->held->envelope.queue : BYTES_NONE;
        bool moves = !bytes_eq(replay_order_queue(&replay->order, own), own);
        if (sending->step != SENDING_READY || moves)
            continue;
        replay->going--;
        replay_ready_drop(sending);
    }
}

struct mono replay_advance(struct replay *replay) {
    bool stopping = replay->replays->stopping;
    if (replay->state == REPLAY_ABORTED && !replay->committing)
        drop_unsent(replay);
    if (!replay->committing && !replay_is_over(replay) && replay->state != REPLAY_PAUSED &&
        !stopping) {
        if (is_finished(replay))
            finish(replay);
        else
            advance_active(replay);
    }
    if (replay_send_wanted(replay))
        replay_send(replay);
    return next_wake(replay);
}

/* ---- outcomes from the engine ---- */

static void note_dead(struct replay *replay, const struct replay_under_way *letter,
                      const struct replay_end_of_letter *end) {
    char text[REPLAY_WHY_MAX];
    struct bytes why = end->why;
    bool canary = in_canary(replay);
    replay_note(replay, letter->place, REPLAYED_FAILED, why);
    failure_guard_dead(&replay->relapse, letter->sent_at, replay->replays->now.mono);
    if (end->fingerprint != 0 && end->fingerprint == letter->fingerprint)
        failure_guard_same(&replay->relapse, letter->number);
    if (!canary)
        return;
    snprintf(text, sizeof text, "the canary died: letter %.40s is dead again: %.*s", letter->id,
             BYTES_ARG(bytes_clip(why, 150)));
    replay_abort(replay, BYTES(BY_ITSELF), bytes_of(text));
}

void replay_heard(struct replay *replay, struct replay_under_way *under_way,
                  const struct replay_end_of_letter *end) {
    assert(end->outcome == REPLAYED_RESOLVED || end->outcome == REPLAYED_FAILED ||
           end->outcome == REPLAYED_DISCARDED);
    if (end->outcome == REPLAYED_FAILED) {
        note_dead(replay, under_way, end);
    } else {
        replay_note(replay, under_way->place, end->outcome, end->why);
        failure_guard_drained(&replay->relapse, replay->replays->now.mono, 1);
    }
    if (end->outcome == REPLAYED_RESOLVED && replay_order_to_origin(&replay->order))
        replay_watch(replay, under_way);
    else
        replay_end_under_way(replay, under_way);
}

void replay_came_back(struct replay *replay, struct replay_under_way *watched,
                      const struct replay_end_of_letter *end) {
    if (end->outcome == REPLAYED_FAILED && !replay_is_over(replay))
        note_dead(replay, watched, end);
    replay_end_watched(replay, watched);
}
