/* replay_ready: prepares letters for sending: reads the letter, checks its freshness, applies the
 * edit. Checks and edits take time, so several letters are prepared concurrently; they are sent in
 * order of place all the same.
 *
 *   replay_ready ──▶ CHECK (handler) ──▶ EDIT (jq) ──▶ READY      OVER: it is not sent
 *
 * `preparing` counts checks and edits in flight, `going` the letters of the window that may still
 * be sent. Answers arrive on other threads and are posted to the replays' thread. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/json.h"
#include "base/json/json_path.h"
#include "base/memory.h"
#include "core/pointer.h"
#include "triage/replay/replay_state.h"

static void next_step(struct sending *sending);

/* The letter is not sent; sending->outcome and ->why say why. */
static void end(struct sending *sending) {
    assert(sending->step != SENDING_OVER && sending->replay->going > 0);
    sending->step = SENDING_OVER;
    sending->replay->going--;
}

static void give_up(struct sending *sending, enum replay_outcome outcome, struct bytes why) {
    sending->outcome = outcome;
    snprintf(sending->why, sizeof sending->why, "%.*s",
             BYTES_ARG(bytes_clip(why, sizeof sending->why - 1)));
    end(sending);
}

void replay_ready_drop(struct sending *sending) {
    assert(sending->replay->window_bytes >= sending->bytes);
    sending->replay->window_bytes -= sending->bytes;
    list_remove(&sending->link);
    message_free(sending->held);
    free(sending);
}

/* ---- the edit ---- */

static void edit_answered(struct replays *replays, struct replay_mail *mail) {
    struct sending *sending = CONTAINER_OF(mail, struct sending, mail);
    (void)replays;
    assert(sending->step == SENDING_EDIT && sending->replay->preparing > 0);
    sending->replay->preparing--;
    if (sending->outcome == REPLAYED_UNEDITED)
        end(sending);
    else
        sending->step = SENDING_READY;
}

/* Called on jq's thread. */
static void on_edited(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                      const struct err *err) {
    (void)truthy;
    struct sending *sending = job->arg;
    if (status != STATUS_OK || output.len == 0) {
        sending->outcome = REPLAYED_UNEDITED;
        snprintf(sending->why, sizeof sending->why, "%.200s",
                 status == STATUS_OK ? "the program gave nothing"
                 : err               ? err->text
                                     : "it failed");
    } else if (!bytes_eq(output, sending->held->body)) {
        sending->body = arena_dup(&sending->held->arena, output);
    }
    sending->mail.open = edit_answered;
    replays_post(sending->replay->replays, &sending->mail);
}

struct bytes replay_editable(const struct message *held) {
    return pointer_is_empty(&held->envelope) || held->envelope.body_damaged ? BYTES("null")
                                                                            : held->body;
}

static void start_edit(struct sending *sending) {
    struct jq *jq = sending->replay->replays->triage->jq;
    struct bytes body = replay_editable(sending->held);
    struct json json;
    if (json_parse(body, &json, NULL) != STATUS_OK) {
        give_up(sending, REPLAYED_UNEDITED, BYTES("its body is not JSON"));
        return;
    }
    sending->step = SENDING_EDIT;
    sending->replay->preparing++;
    sending->job = (struct jq_job){
        .program = sending->replay->order.edit, .input = body, .done = on_edited, .arg = sending};
    jq->vtable->start(jq, &sending->job);
}

/* ---- the freshness check ---- */

static void check_answered(struct replays *replays, struct replay_mail *mail) {
    struct sending *sending = CONTAINER_OF(mail, struct sending, mail);
    (void)replays;
    assert(sending->step == SENDING_CHECK && sending->replay->preparing > 0);
    sending->replay->preparing--;
    sending->check = NULL;
    if (sending->outcome != REPLAYED_WAITING)
        end(sending);
    else
        next_step(sending);
}

static struct bytes bare(struct bytes hash) {
    if (bytes_starts(hash, BYTES("sha256:")))
        return bytes_cut(hash, sizeof "sha256:" - 1, hash.len);
    return hash;
}

/* "sha256:…", bare hex, or {"content_hash": either}. */
static struct bytes hash_of(struct bytes answer, struct arena *arena) {
    struct json json, member;
    struct bytes text = bytes_trim(answer);
    if (json_parse(text, &json, NULL) == STATUS_OK) {
        if (json_get(json, "content_hash", &member))
            json = member;
        json_string(json, arena, &text);
    }
    return bare(text);
}

/* The hash to compare with: the body's own member if `fresh.hash` names one that exists, otherwise
 * the hash of the body. */
static struct bytes known_hash(struct sending *sending) {
    struct json body, member;
    struct bytes text;
    if (sending->hash.len > 0 && json_parse(sending->held->body, &body, NULL) == STATUS_OK &&
        json_path_get(body, sending->hash, &member) &&
        json_string(member, &sending->held->arena, &text))
        return bare(bytes_trim(text));
    return bytes_of(sending->held->envelope.content_hash);
}

/* Called on the handler's thread. */
static void on_checked(struct call *call, const struct outcome *outcome) {
    struct sending *sending = CONTAINER_OF(call, struct sending, call);
    struct bytes hash = hash_of(outcome->answer, &sending->held->arena);
    if (outcome->ending != ENDING_OK) {
        sending->outcome = REPLAYED_UNCHECKED;
        snprintf(sending->why, sizeof sending->why, "the freshness check failed: %.*s",
                 BYTES_ARG(bytes_clip(outcome->error_message, 150)));
    } else if (!bytes_eq_nocase(hash, known_hash(sending))) {
        sending->outcome = REPLAYED_STALE;
        snprintf(sending->why, sizeof sending->why, "its content hash is %.*s now",
                 BYTES_ARG(bytes_clip(hash, 80)));
    }
    sending->mail.open = check_answered;
    replays_post(sending->replay->replays, &sending->mail);
}

static void start_check(struct sending *sending) {
    assert(sending->check && sending->held);
    const struct envelope *envelope = &sending->held->envelope;
    sending->step = SENDING_CHECK;
    sending->replay->preparing++;
    sending->call = (struct call){.queue = envelope->queue,
                                  .id = envelope->id,
                                  .key = envelope->key,
                                  .body = sending->held->body,
                                  .content_type = envelope->content_type,
                                  .headers = envelope->headers,
                                  .header_count = envelope->header_count,
                                  .attempt = 1,
                                  .replay = envelope->replays + 1,
                                  .first_attempt_at = envelope->first_attempt_at,
                                  .wants_answer = true,
                                  .done = on_checked};
    sending->check->vtable->start(sending->check, &sending->call);
}

/* ---- the letter ---- */

static void next_step(struct sending *sending) {
    if (sending->check)
        start_check(sending);
    else if (sending->replay->order.edit.len > 0)
        start_edit(sending);
    else
        sending->step = SENDING_READY;
}

static bool is_stale(const struct sending *sending, const struct replay_dlq *dlq) {
    struct wall now = sending->replay->replays->now.wall;
    return dlq->fresh_ms > 0 && now.ms - sending->held->envelope.created_at.ms > dlq->fresh_ms;
}

/* Whether the letter was claimed in its own queue by an earlier commit: it is moving to another
 * queue. */
static bool is_claimed(const struct sending *sending) {
    const struct envelope *envelope = &sending->held->envelope;
    return envelope->state == STATE_REPLAYING && !envelope->compensating &&
           bytes_is(envelope->replay, sending->replay->id);
}

static void examine(struct sending *sending) {
    const struct envelope *envelope = &sending->held->envelope;
    const struct replay_around *around = &sending->replay->replays->around;
    struct replay_dlq dlq = {.max_replays = UINT32_MAX};
    char why[REPLAY_WHY_MAX];
    if (replay_order_to_origin(&sending->replay->order))
        around->serve(around->arg, envelope->queue);
    around->dlq(around->arg, envelope->dlq, &dlq);
    if (is_claimed(sending)) {
        sending->moved = true;
        sending->step = SENDING_READY;
    } else if (envelope->state != STATE_PENDING_REVIEW) {
        snprintf(why, sizeof why, "it is %s", state_text(envelope->state));
        give_up(sending, REPLAYED_CHANGED, bytes_of(why));
    } else if (envelope->body_damaged && sending->replay->order.edit.len == 0) {
        give_up(sending, REPLAYED_UNEDITED,
                BYTES("its body is damaged; give it a new one with an edit"));
    } else if (envelope->replays >= dlq.max_replays) {
        snprintf(why, sizeof why, "it was replayed %u times", (unsigned)envelope->replays);
        give_up(sending, REPLAYED_ESCALATED, bytes_of(why));
    } else if (!sending->replay->order.send_stale && is_stale(sending, &dlq)) {
        give_up(sending, REPLAYED_STALE, BYTES("it is older than fresh.within"));
    } else {
        sending->check = sending->replay->order.send_stale ? NULL : dlq.check;
        sending->hash = dlq.hash;
        next_step(sending);
    }
}

/* Counts its bodies in window_bytes. */
static void count_bytes(struct sending *sending) {
    size_t bodies = sending->replay->order.edit.len > 0 ? 2 : 1;
    sending->bytes = sending->held->body.len * bodies;
    sending->replay->window_bytes += sending->bytes;
}

void replay_ready(struct replay *replay, uint64_t place, const struct replay_letter *letter) {
    assert(place < replay->selected);
    struct store *store = replay->replays->triage->store;
    struct sending *sending = memory_new(sizeof *sending);
    struct err err;
    sending->replay = replay;
    sending->place = place;
    list_push_back(&replay->window, &sending->link);
    replay->going++;
    enum status status =
        letters_get(store->letters, letter->queue, letter->id, &sending->held, &err);
    if (status == STATUS_OK) {
        count_bytes(sending);
        examine(sending);
        return;
    }
    give_up(sending, REPLAYED_CHANGED,
            status == STATUS_NOT_FOUND ? BYTES("it is no longer held") : bytes_of(err.text));
}

void replay_ready_cancel(struct replay *replay) {
    LIST_EACH(node, &replay->window) {
        struct sending *sending = CONTAINER_OF(node, struct sending, link);
        if (sending->step == SENDING_CHECK && sending->check)
            sending->check->vtable->cancel(sending->check, &sending->call);
    }
}
