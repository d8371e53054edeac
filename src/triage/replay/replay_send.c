/* replay_send: the commits of a replay. A commit sends the next ready letters, in order of place,
 * and records their outcomes and those of earlier letters; after a crash the store has all of it or
 * nothing. A replay has at most one commit in flight.
 *
 * A letter that goes to another queue takes two commits: the first claims it in its own queue
 * (REPLAYING, due far in the future, so that the engine does not take it), the second puts it into
 * the other queue and forgets it in its own. */
#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "core/lifecycle.h"
#include "triage/decide/escalation.h"
#include "triage/replay/replay_state.h"
#include "triage/replay/scrub_headers.h"

enum {
    COMMIT_ARENA_CHUNK = 16 * 1024,
    LETTER_BYTES = 32 * 1024, /* of a letter's envelope in a commit, without its bodies */
};
/* Delay of a letter that is about to move, so that the engine does not take it from its own queue.
 */
#define FAR_MS (INT64_C(10) * 365 * 24 * 3600 * 1000)

struct letter_update {
    struct replay *replay;
    struct arena arena; /* until submit returns */
    size_t count, max;
    struct escalation *escalations; /* one for each DLQ */
};

static struct store_op *add(struct letter_update *building, struct store_op op) {
    struct replay *replay = building->replay;
    if (building->count == building->max) {
        building->max = building->max ? building->max * 2 : 64;
        replay->ops = memory_grow(replay->ops, building->max * sizeof *replay->ops);
    }
    replay->ops[building->count] = op;
    return &replay->ops[building->count++];
}

static uint32_t queue_number(const struct replay *replay, struct bytes name) {
    struct store *store = replay->replays->triage->store;
    return store->vtable->queue_number(store, name);
}

/* ---- one letter ---- */

static bool moves(const struct sending *sending) {
    struct bytes own = sending->held->envelope.queue;
    return !bytes_eq(replay_order_queue(&sending->replay->order, own), own);
}

/* Starts the letter's next round (SEMANTICS 2.3). For a letter sent to its origin, the round starts
 * when it comes back. */
static void begin_round(struct sending *sending, struct envelope *envelope) {
    struct arena *arena = &sending->held->arena;
    struct wall now = sending->replay->replays->now.wall;
    lifecycle_replay(envelope, now);
    envelope->to_origin = replay_order_to_origin(&sending->replay->order);
    if (!envelope->to_origin) {
        envelope->attempts = 0;
        envelope->max_attempts = 0;
        envelope->crashes = 0;
        envelope->probes = 0;
    }
    envelope->replays++;
    envelope->replay = bytes_of(sending->replay->id);
    envelope->replayed_at = now;
    envelope->header_count = scrub_headers(envelope, arena, &envelope->headers);
}

static void hash_body(struct bytes body, char out[65]) {
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)body.ptr, body.len);
    sodium_bin2hex(out, 65, hash, sizeof hash);
}

/* Keeps the original body, which later edits do not replace. */
static void add_original(struct letter_update *building, const struct sending *sending) {
    add(building, (struct store_op){.kind = STORE_KEEP,
                                    .keep = {.space = SPACE_ORIGINAL,
                                             .name = sending->held->envelope.letter_id,
                                             .value = sending->held->body,
                                             .expires = WALL_NEVER}});
}

static bool keeps_original(const struct sending *sending) {
    return sending->step == SENDING_READY && !sending->moved && sending->body.ptr &&
           !sending->held->envelope.edited && !sending->held->envelope.body_damaged &&
           !sending->original_kept;
}

static void edit(struct letter_update *building, struct sending *sending,
                 struct envelope *envelope) {
    struct message *held = sending->held;
    if (keeps_original(sending))
        add_original(building, sending);
    envelope->edited = true;
    envelope->body_damaged = false;
    if (held->body.len == 0) /* of a pointer without a body: no content type either */
        envelope->content_type = BYTES("application/json");
    envelope->size = sending->body.len;
    hash_body(sending->body, envelope->content_hash);
}

static void add_update(struct letter_update *building, struct sending *sending) {
    assert(!sending->moved && sending->step == SENDING_READY);
    struct envelope *envelope = arena_alloc(&building->arena, sizeof *envelope);
    *envelope = sending->held->envelope;
    begin_round(sending, envelope);
    if (sending->body.ptr)
        edit(building, sending, envelope);
    if (moves(sending)) {
        envelope->delay_ms = FAR_MS;
        envelope->next_attempt_at.ms += FAR_MS;
    }
    sending->op = building->count;
    add(building, (struct store_op){.kind = STORE_UPDATE,
                                    .queue = queue_number(building->replay, envelope->queue),
                                    .seq = sending->held->seq,
                                    .envelope = envelope,
                                    .body = sending->body,
                                    .from = 1u << STATE_PENDING_REVIEW});
}

/* Second commit of a move: the letter as the first commit stored it goes to the other queue. */
static void add_move(struct letter_update *building, struct sending *sending) {
    assert(sending->moved && sending->step == SENDING_READY);
    struct replay *replay = building->replay;
    struct envelope *envelope = arena_alloc(&building->arena, sizeof *envelope);
    *envelope = sending->held->envelope;
    envelope->queue = replay->order.to;
    envelope->next_attempt_at = replay->replays->now.wall;
    envelope->delay_ms = 0;
    sending->op = building->count;
    add(building, (struct store_op){.kind = STORE_PUT,
                                    .queue = queue_number(replay, replay->order.to),
                                    .envelope = envelope,
                                    .body = sending->held->body,
                                    .check_id = true});
    add(building, (struct store_op){.kind = STORE_FORGET,
                                    .queue = queue_number(replay, sending->held->envelope.queue),
                                    .seq = sending->held->seq,
                                    .from = 1u << STATE_REPLAYING});
}

/* Undoes the first commit of a move: the other queue holds a message with its id. */
static void add_return(struct letter_update *building, struct sending *sending) {
    assert(sending->held->envelope.replays > 0);
    struct envelope *envelope = arena_alloc(&building->arena, sizeof *envelope);
    *envelope = sending->held->envelope;
    if (envelope->state == STATE_REPLAYING) /* otherwise the store skips it: see `from` */
        lifecycle_recall(envelope);
    envelope->replays--;
    add(building, (struct store_op){.kind = STORE_UPDATE,
                                    .queue = queue_number(building->replay, envelope->queue),
                                    .seq = sending->held->seq,
                                    .envelope = envelope,
                                    .from = 1u << STATE_REPLAYING});
}

static void add_escalation(struct letter_update *building, const struct sending *sending) {
    const struct envelope *envelope = &sending->held->envelope;
    add(building, (struct store_op){.kind = STORE_MARK,
                                    .queue = queue_number(building->replay, envelope->queue),
                                    .seq = sending->held->seq,
                                    .from = 1u << STATE_PENDING_REVIEW,
                                    .mark = {.state = STATE_PENDING_REVIEW,
                                             .escalated = true,
                                             .at = building->replay->replays->now.wall,
                                             .why = bytes_of(sending->why)}});
}

/* The letters that one replay escalates are in one notice for each DLQ. */
static void note_escalation(struct letter_update *building, const struct sending *sending) {
    struct triage *triage = building->replay->replays->triage;
    const struct envelope *envelope = &sending->held->envelope;
    struct escalation *told = building->escalations;
    char words[ESCALATION_WORDS_MAX];
    struct err err;
    while (told && !bytes_eq(told->dlq, envelope->dlq))
        told = told->next;
    if (!told) {
        snprintf(words, sizeof words, "escalated by replay %s: %.160s", building->replay->id,
                 sending->why);
        told = escalation_more(triage, bytes_of(building->replay->id), envelope->dlq,
                               bytes_of(words), &err);
        told->next = building->escalations;
        building->escalations = told;
    }
    escalation_add(told, envelope);
}

static void add_escalations(struct letter_update *building) {
    struct escalation *next;
    for (struct escalation *told = building->escalations; told; told = next) {
        next = told->next;
        add(building, escalation_op(told, building->replay->replays->now.wall, &building->arena));
        escalation_free(told);
    }
}

static void put_under_way(struct replay *replay, const struct sending *sending) {
    replay_note(replay, sending->place, REPLAYED_SENT, BYTES_NONE);
    replay_put_under_way(replay, sending->place, sending->held->envelope.letter_id,
                         sending->held->envelope.fingerprint);
}

static void add_letter(struct letter_update *building, struct sending *sending) {
    struct replay *replay = building->replay;
    if (sending->step == SENDING_READY && sending->moved) {
        add_move(building, sending);
        put_under_way(replay, sending);
    } else if (sending->step == SENDING_READY) {
        add_update(building, sending);
        if (!moves(sending))
            put_under_way(replay, sending);
    } else {
        if (sending->outcome == REPLAYED_ESCALATED) {
            add_escalation(building, sending);
            note_escalation(building, sending);
        }
        if (sending->outcome == REPLAYED_HELD)
            add_return(building, sending);
        replay_note(replay, sending->place, sending->outcome, bytes_of(sending->why));
    }
}

/* ---- the commit's answer ---- */

/* Reverts the outcome noted for a commit that failed, or for a letter that was changed at the same
 * time. */
static void revert_outcome(struct replay *replay, const struct sending *sending,
                           enum replay_outcome outcome, const char *why) {
    struct replay_under_way *under_way =
        sending->held ? replay_find_under_way(replay, sending->held->envelope.letter_id) : NULL;
    if (under_way)
        replay_end_under_way(replay, under_way);
    replay_note(replay, sending->place, outcome, bytes_of(why));
}

static void give_up(struct sending *sending, enum replay_outcome outcome) {
    assert(sending->replay->going > 0);
    sending->step = SENDING_OVER;
    sending->outcome = outcome;
    sending->replay->going--;
}

/* The other queue holds a message with its id. */
static void refuse_held(struct sending *sending) {
    snprintf(sending->why, sizeof sending->why, "queue %.*s holds a message with that id",
             BYTES_ARG(bytes_clip(sending->replay->order.to, 100)));
    give_up(sending, REPLAYED_HELD);
}

/* The first commit of a move is durable: reads the stored letter for the second. */
static void start_move(struct sending *sending) {
    struct replay *replay = sending->replay;
    struct store *store = replay->replays->triage->store;
    struct message *held = NULL, *other = NULL;
    const struct envelope *envelope = &sending->held->envelope;
    struct err err;
    if (letters_get(store->letters, envelope->queue, envelope->letter_id, &held, &err) != STATUS_OK)
        return; /* tried again with the next commit */
    message_free(sending->held);
    sending->held = held;
    sending->moved = true;
    if (letters_get(store->letters, replay->order.to, held->envelope.id, &other, &err) == STATUS_OK)
        refuse_held(sending);
    message_free(other);
}

static void count_sent(struct replay *replay, const struct sending *sending) {
    uint64_t number = failure_guard_sent(&replay->relapse, replay->replays->now.mono);
    struct replay_under_way *under_way =
        replay_find_under_way(replay, sending->held->envelope.letter_id);
    if (under_way)
        under_way->number = number;
}

static void finish_sent(struct replay *replay, struct sending *sending) {
    bool sent = sending->step == SENDING_READY;
    if (sent && !sending->moved && replay->ops[sending->op].skipped) {
        revert_outcome(replay, sending, REPLAYED_CHANGED, "it was changed meanwhile");
    } else if (sent && !sending->moved && moves(sending)) {
        start_move(sending);
        return;
    } else if (sent) {
        count_sent(replay, sending);
    }
    replay->going -= sent;
    replay_ready_drop(sending);
}

static void revert(struct replay *replay, struct sending *sending) {
    if (sending->step == SENDING_READY && !sending->moved && moves(sending))
        return; /* no outcome was noted */
    revert_outcome(replay, sending, REPLAYED_WAITING, "");
}

static void each_in_batch(struct replay *replay,
                          void (*visit)(struct replay *replay, struct sending *sending)) {
    LIST_EACH_SAFE(node, &replay->window) {
        if (replay->batch == 0)
            break;
        replay->batch--;
        visit(replay, CONTAINER_OF(node, struct sending, link));
    }
}

static struct sending *first_in_window(const struct replay *replay) {
    return list_empty(&replay->window) ? NULL
                                       : CONTAINER_OF(replay->window.next, struct sending, link);
}

/* The commit was too large: the next one has fewer letters. A single letter is committed in two
 * parts; if that is still too large it is not sent. */
static void split_batch(struct replay *replay, size_t letters) {
    struct sending *first = first_in_window(replay);
    if (letters > 1) {
        replay->batch_max = letters / 2;
    } else if (keeps_original(first) && !first->split) {
        first->split = true;
    } else {
        snprintf(first->why, sizeof first->why,
                 "its body of %zu bytes is too large for one commit of the store",
                 first->body.ptr ? first->body.len : first->held->body.len);
        give_up(first, first->moved ? REPLAYED_HELD : REPLAYED_UNEDITED);
    }
}

/* Waits until the store accepts commits again; the replay's `why` says so meanwhile. */
static void wait_for_store(struct replay *replay) {
    log_error("replay %s: a commit failed, retrying: %s", replay->id, replay->commit.err.text);
    snprintf(replay->refused, sizeof replay->refused,
             "the store refused a commit, retrying: %.180s", replay->commit.err.text);
    replay->again = mono_after(replay->replays->now.mono, REPLAY_AGAIN_MS);
}

static void commit_failed(struct replay *replay) {
    size_t letters = replay->batch;
    each_in_batch(replay, revert);
    if (replay->commit_status == STATUS_CONFLICT && first_in_window(replay))
        refuse_held(first_in_window(replay));
    if (replay->commit_status == STATUS_TOO_LARGE && (letters > 0 || replay->original_alone))
        split_batch(replay, letters);
    else
        wait_for_store(replay);
    LIST_EACH(node, &replay->parts)
    CONTAINER_OF(node, struct replay_part, link)->dirty = true;
    replay->changed = true;
    if (replay->spoken.name.len > 0)
        replay->last_words = replay->spoken;
}

static void commit_answered(struct replays *replays, struct replay_mail *mail) {
    struct replay *replay = CONTAINER_OF(mail, struct replay, commit_mail);
    (void)replays;
    assert(replay->committing);
    replay->committing = false;
    if (replay->commit_status != STATUS_OK) {
        commit_failed(replay);
        return;
    }
    if (replay->original_alone)
        first_in_window(replay)->original_kept = true;
    if (replay->batch > 0 && replay->batch_max < REPLAY_BATCH_MAX)
        replay->batch_max *= 2;
    replay->refused[0] = '\0';
    each_in_batch(replay, finish_sent);
    replay->spoken = (struct store_keep){.name = BYTES_NONE};
    replay->closed = replay->commit_closes;
    replay_drop_parts(replay);
}

static void on_commit(struct store_commit *commit, enum status status) {
    struct replay *replay = CONTAINER_OF(commit, struct replay, commit);
    replay->commit_status = status;
    replays_post(replay->replays, &replay->commit_mail);
}

/* ---- the commit ---- */

static bool is_ready(const struct sending *sending) {
    return sending->step == SENDING_READY || sending->step == SENDING_OVER;
}

/* Approximate size in a commit. */
static size_t bytes_of_letter(const struct sending *sending) {
    size_t body = sending->moved ? sending->held->body.len : sending->body.len;
    size_t original = keeps_original(sending) ? sending->held->body.len : 0;
    return LETTER_BYTES + (sending->step == SENDING_READY ? body + original : 0);
}

/* Commits the original body alone, of a letter that is too large for one commit. */
static bool add_original_alone(struct letter_update *building) {
    const struct sending *first = first_in_window(building->replay);
    building->replay->batch = 0;
    building->replay->original_alone = first && first->split && keeps_original(first);
    if (building->replay->original_alone)
        add_original(building, first);
    return building->replay->original_alone;
}

/* Adds the first ready letters of the window, in order, as many as fit into a commit. A letter that
 * moves goes alone, so that a conflict in the other queue affects no other letter. */
static void add_window(struct letter_update *building) {
    struct replay *replay = building->replay;
    uint32_t sent = 0;
    size_t bytes = 0;
    LIST_EACH(node, &replay->window) {
        struct sending *sending = CONTAINER_OF(node, struct sending, link);
        bytes += is_ready(sending) ? bytes_of_letter(sending) : 0;
        if (!is_ready(sending) || replay->batch == replay->batch_max ||
            (replay->batch > 0 && bytes > STORE_COMMIT_BYTES))
            break;
        add_letter(building, sending);
        replay->batch++;
        sent += sending->step == SENDING_READY && (sending->moved || !moves(sending));
        if (replay->order.to.len > 0 && !replay_order_to_origin(&replay->order))
            break;
    }
    send_rate_sent(&replay->pace, replay->replays->now.mono, sent);
}

static void add_parts(struct letter_update *building) {
    struct replay *replay = building->replay;
    LIST_EACH(node, &replay->parts) {
        struct replay_part *part = CONTAINER_OF(node, struct replay_part, link);
        if (!part->dirty)
            continue;
        add(building,
            replay_part_outcomes_op(part, replay->id, replay->replays->now.wall, &building->arena));
        part->dirty = false;
    }
}

static bool can_close(const struct replay *replay) {
    return replay_is_over(replay) && list_empty(&replay->window) && replay->under_way.count == 0;
}

static void add_doc(struct letter_update *building) {
    struct replay *replay = building->replay;
    struct instant now = replay->replays->now;
    replay->commit_closes = can_close(replay);
    if (!replay->changed && !replay->commit_closes)
        return;
    replay->changed = false;
    replay->written_at = now.mono;
    add(building, replay_doc_op(replay, &building->arena));
    replay->spoken = replay->last_words;
    replay->last_words = (struct store_keep){.name = BYTES_NONE};
    if (replay->spoken.name.len > 0)
        add(building, (struct store_op){.kind = STORE_KEEP, .keep = replay->spoken});
    if (replay->relapsed)
        add(building, replay_relapse_op(replay, &building->arena));
    if (replay->commit_closes)
        add(building, replay_mark_op(replay, false, &building->arena));
}

static bool has_ready(const struct replay *replay) {
    if (list_empty(&replay->window))
        return false;
    return is_ready(first_in_window(replay));
}

bool replay_send_wanted(const struct replay *replay) {
    struct mono now = replay->replays->now.mono;
    if (replay->committing || replay->closed || now.ms < replay->again.ms)
        return false;
    return has_ready(replay) || can_close(replay) ||
           (replay->changed && now.ms - replay->written_at.ms >= REPLAY_SECOND_MS);
}

void replay_send(struct replay *replay) {
    struct store *store = replay->replays->triage->store;
    struct letter_update building = {.replay = replay};
    assert(!replay->committing);
    arena_init_heap(&building.arena, COMMIT_ARENA_CHUNK);
    free(replay->ops);
    replay->ops = NULL;
    if (!add_original_alone(&building))
        add_window(&building);
    add_escalations(&building);
    add_parts(&building);
    add_doc(&building);
    replay->committing = true;
    replay->commit_mail.open = commit_answered;
    replay->commit =
        (struct store_commit){.ops = replay->ops, .count = building.count, .done = on_commit};
    store->vtable->submit(store, &replay->commit);
    arena_free(&building.arena);
}
