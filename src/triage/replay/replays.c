/* replays: the thread of all replays, and the calls of the API. `mutex` guards every replay; the
 * thread holds it for the length of a step. */
#include "triage/replay/replays.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/query/audit.h"
#include "triage/replay/replay_state.h"

enum { START_ARENA_CHUNK = 4096 };

/* ---- mail ---- */

void replays_post(struct replays *replays, struct replay_mail *mail) {
    mailbox_post(&replays->mailbox, &mail->mail);
}

/* The outcome of a letter, posted to the replays' thread. */
struct heard {
    struct replay_mail mail;
    enum replay_outcome outcome;
    uint64_t fingerprint;
    char replay[UUID_TEXT_SIZE];
    char why[REPLAY_WHY_MAX];
    char letter_id[]; /* NUL-terminated */
};

static void open_heard(struct replays *replays, struct replay_mail *mail) {
    struct heard *heard = CONTAINER_OF(mail, struct heard, mail);
    struct replay *replay = replays_find(replays, bytes_of(heard->replay));
    struct replay_under_way *under_way =
        replay ? replay_find_under_way(replay, bytes_of(heard->letter_id)) : NULL;
    struct replay_under_way *watched =
        replay && !under_way ? replay_find_watched(replay, bytes_of(heard->letter_id)) : NULL;
    struct replay_end_of_letter end = {heard->outcome, heard->fingerprint, bytes_of(heard->why)};
    if (under_way)
        replay_heard(replay, under_way, &end);
    if (watched)
        replay_came_back(replay, watched, &end);
    free(heard);
}

static bool outcome_of(enum state state, enum replay_outcome *out) {
    static const struct {
        enum state state;
        enum replay_outcome outcome;
    } ends[] = {{STATE_RESOLVED, REPLAYED_RESOLVED},
                {STATE_PENDING_REVIEW, REPLAYED_FAILED},
                {STATE_DISCARDED, REPLAYED_DISCARDED}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends[i].state == state) {
            *out = ends[i].outcome;
            return true;
        }
    return false;
}

static bool died_again(const struct envelope *letter) {
    return letter->dead_at.ms >= letter->replayed_at.ms;
}

/* The failure; or, if the letter never got as far as failing again, the reason. */
static void say_why(const struct envelope *letter, char out[REPLAY_WHY_MAX]) {
    if (!died_again(letter))
        snprintf(out, REPLAY_WHY_MAX, "%.*s",
                 BYTES_ARG(bytes_clip(letter->why, REPLAY_WHY_MAX - 1)));
    else
        snprintf(out, REPLAY_WHY_MAX, "%.*s: %.*s", BYTES_ARG(bytes_clip(letter->reason, 80)),
                 BYTES_ARG(bytes_clip(letter->error_message, 150)));
}

void replays_heard(struct replays *replays, const struct envelope *letter) {
    enum replay_outcome outcome;
    if (letter->replay.len == 0 || letter->letter_id.len == 0 ||
        !outcome_of(letter->state, &outcome))
        return;
    struct heard *heard = memory_new(sizeof *heard + letter->letter_id.len + 1);
    heard->mail.open = open_heard;
    heard->outcome = outcome;
    heard->fingerprint = outcome == REPLAYED_FAILED && died_again(letter) ? letter->fingerprint : 0;
    snprintf(heard->replay, sizeof heard->replay, "%.*s", BYTES_ARG(letter->replay));
    if (outcome == REPLAYED_FAILED)
        say_why(letter, heard->why);
    memcpy(heard->letter_id, letter->letter_id.ptr, letter->letter_id.len);
    replays_post(replays, &heard->mail);
}

/* ---- start and stop ---- */

struct replays *replays_new(struct triage *triage, const struct replay_around *around) {
    struct replays *replays = memory_new(sizeof *replays);
    replays->triage = triage;
    replays->around = *around;
    replays->now = triage_now(triage);
    mailbox_init(&replays->mailbox);
    pthread_mutex_init(&replays->mutex, NULL);
    list_init(&replays->active);
    return replays;
}

struct replay *replays_find(struct replays *replays, struct bytes id) {
    LIST_EACH(node, &replays->active) {
        struct replay *replay = CONTAINER_OF(node, struct replay, link);
        if (bytes_is(id, replay->id))
            return replay;
    }
    return NULL;
}

static void open_mail(struct replays *replays) {
    for (struct mail *mail = mailbox_take(&replays->mailbox); mail;) {
        struct replay_mail *one = CONTAINER_OF(mail, struct replay_mail, mail);
        mail = mail->next;
        one->open(replays, one);
    }
}

struct mono replays_step(struct replays *replays, struct instant now) {
    struct mono next = MONO_NEVER;
    pthread_mutex_lock(&replays->mutex);
    replays->now = now;
    open_mail(replays);
    LIST_EACH_SAFE(node, &replays->active) {
        struct replay *replay = CONTAINER_OF(node, struct replay, link);
        next = mono_earlier(next, replay_advance(replay));
        if (replay->closed)
            replay_free(replay);
    }
    pthread_mutex_unlock(&replays->mutex);
    return next;
}

static bool may_leave(struct replays *replays) {
    bool leave = true;
    pthread_mutex_lock(&replays->mutex);
    LIST_EACH(node, &replays->active) {
        struct replay *replay = CONTAINER_OF(node, struct replay, link);
        leave = leave && replay->preparing == 0 && !replay->committing;
    }
    leave = leave && replays->stopping;
    pthread_mutex_unlock(&replays->mutex);
    return leave;
}

void replays_run(struct replays *replays) {
    for (;;) {
        struct mono next = replays_step(replays, triage_now(replays->triage));
        if (may_leave(replays)) /* checked after the step, which consumes the wake-up */
            return;
        mailbox_wait(&replays->mailbox, next);
    }
}

void replays_stop(struct replays *replays) {
    pthread_mutex_lock(&replays->mutex);
    replays->stopping = true;
    LIST_EACH(node, &replays->active)
    replay_ready_cancel(CONTAINER_OF(node, struct replay, link));
    pthread_mutex_unlock(&replays->mutex);
    mailbox_ring(&replays->mailbox);
}

void replays_free(struct replays *replays) {
    if (!replays)
        return;
    open_mail(replays);
    LIST_EACH_SAFE(node, &replays->active)
    replay_free(CONTAINER_OF(node, struct replay, link));
    mailbox_free(&replays->mailbox);
    pthread_mutex_destroy(&replays->mutex);
    free(replays);
}

/* ---- starting ---- */

/* Another replay may have claimed a letter while this selection was being frozen. */
static enum status check_claims(const struct replays *replays, const struct replay *replay,
                                struct err *err) {
    size_t count = 0;
    LIST_EACH(node, &replays->active) {
        const struct replay *other = CONTAINER_OF(node, struct replay, link);
        count++;
        for (uint64_t i = 0, j = 0;
             !replay_is_over(other) && i < replay->selected && j < other->selected;) {
            if (replay->claims[i] == other->claims[j])
                return err_set(err, STATUS_CONFLICT,
                               "some of the letters are part of replay %s; wait for it or abort it",
                               other->id);
            if (replay->claims[i] < other->claims[j])
                i++;
            else
                j++;
        }
    }
    if (count >= REPLAYS_ACTIVE_MAX)
        return err_set(err, STATUS_BUSY, "%d replays are active; wait until one has ended",
                       REPLAYS_ACTIVE_MAX);
    return STATUS_OK;
}

static struct audit_entry audit_of(const struct replay *replay, const char *what, struct bytes who,
                                   struct bytes why, struct bytes after) {
    return (struct audit_entry){.who = who,
                                .what = what,
                                .why = why,
                                .subject = bytes_of(replay->id),
                                .filter = replay->order.selection.as_json,
                                .count = replay->selected,
                                .after = after};
}

/* Commits the replay's document together with the audit entry. */
static enum status commit_doc(struct replay *replay, struct audit_entry entry, struct err *err) {
    struct triage *triage = replay->replays->triage;
    struct arena arena;
    arena_init_heap(&arena, START_ARENA_CHUNK);
    audit_begin(triage, &entry);
    struct store_op doc = replay_doc_op(replay, &arena);
    entry.after = doc.keep.value;
    struct store_op ops[] = {doc,
                             replay_mark_op(replay, true, &arena),
                             audit_op(&entry, &arena),
                             {.kind = STORE_KEEP, .keep = replay->order.note}};
    size_t count = sizeof ops / sizeof *ops - (replay->order.note.name.len == 0);
    enum status status = triage_commit(triage, ops, count, err);
    arena_free(&arena);
    return status;
}

/* Called with the mutex, so that no other replay is admitted in between. */
static enum status admit(struct replays *replays, struct replay *replay, struct err *err) {
    assert(replay->selected == 0 || replay->claims);
    enum status status = check_claims(replays, replay, err);
    if (status == STATUS_OK)
        status = commit_doc(
            replay,
            audit_of(replay, "replay.start", replay->order.who, replay->order.why, BYTES_NONE),
            err);
    replay->order.id = BYTES_NONE; /* borrowed from the caller */
    replay->order.note = (struct store_keep){.name = BYTES_NONE};
    if (status == STATUS_OK)
        list_push_back(&replays->active, &replay->link);
    return status;
}

enum status replays_start(struct replays *replays, const struct replay_order *order,
                          char id[UUID_TEXT_SIZE], struct err *err) {
    struct wall now = triage_now(replays->triage).wall;
    enum status status = replay_plan_check(replays, order, err);
    if (status != STATUS_OK)
        return status;
    if (order->id.len > 0)
        snprintf(id, UUID_TEXT_SIZE, "%.*s", BYTES_ARG(order->id));
    else
        triage_new_id(replays->triage, now, id);
    struct replay *replay = replay_new(replays, id);
    replay_set_order(replay, order);
    replay->created_at = now;
    status = replay_freeze(replay, order, err);
    if (status == STATUS_OK) {
        pthread_mutex_lock(&replays->mutex);
        status = admit(replays, replay, err);
        pthread_mutex_unlock(&replays->mutex);
    }
    if (status != STATUS_OK) {
        replay_free(replay);
        return status;
    }
    mailbox_ring(&replays->mailbox);
    return STATUS_OK;
}

/* ---- changing ---- */

static const struct {
    const char *what, *past;
} changes[] = {[REPLAY_PAUSE] = {"replay.pause", "paused"},
               [REPLAY_RESUME] = {"replay.resume", "resumed"},
               [REPLAY_ABORT] = {"replay.abort", "aborted"}};

static enum status not_active(struct replays *replays, struct bytes id, struct err *err) {
    struct store *store = replays->triage->store;
    struct arena arena;
    struct bytes value;
    arena_init_heap(&arena, START_ARENA_CHUNK);
    enum status status = letters_note(store->letters, 0, SPACE_REPLAY, replay_doc_name(id, &arena),
                                      triage_now(replays->triage).wall, &arena, &value, err);
    arena_free(&arena);
    id = bytes_clip(id, UUID_TEXT_SIZE);
    if (status == STATUS_OK)
        return err_set(err, STATUS_CONFLICT, "replay %.*s has ended", BYTES_ARG(id));
    return err_set(err, STATUS_NOT_FOUND, "replay \"%.*s\" does not exist", BYTES_ARG(id));
}

static void change_state(struct replay *replay, enum replay_change change, struct bytes who,
                         struct bytes why) {
    assert(!replay_is_over(replay));
    char text[REPLAY_WHY_MAX];
    snprintf(text, sizeof text, "%s by %.*s%s%.*s", changes[change].past,
             BYTES_ARG(bytes_clip(who, 60)), why.len ? ": " : "", BYTES_ARG(bytes_clip(why, 150)));
    switch (change) {
    case REPLAY_PAUSE:
        replay_set_state(replay, REPLAY_PAUSED, text);
        break;
    case REPLAY_RESUME:
        if (replay->state == REPLAY_PAUSED)
            replay_set_state(replay, REPLAY_PLANNED, "");
        break;
    case REPLAY_ABORT:
        replay_abort(replay, who, bytes_of(text));
        /* replays_change writes the audit entry itself */
        replay->last_words = (struct store_keep){.name = BYTES_NONE};
        break;
    }
}

enum status replays_change(struct replays *replays, struct bytes id, enum replay_change change,
                           struct bytes who, struct bytes why, struct err *err) {
    enum status status;
    pthread_mutex_lock(&replays->mutex);
    struct replay *replay = replays_find(replays, id);
    if (!replay || replay_is_over(replay)) {
        status = not_active(replays, id, err);
    } else {
        change_state(replay, change, who, why);
        status =
            commit_doc(replay, audit_of(replay, changes[change].what, who, why, BYTES_NONE), err);
    }
    pthread_mutex_unlock(&replays->mutex);
    mailbox_ring(&replays->mailbox);
    return status;
}

size_t replays_relapses(struct replays *replays, struct replays_relapse out[REPLAYS_RELAPSES_MAX]) {
    pthread_mutex_lock(&replays->mutex);
    size_t count = replays->relapse_count < REPLAYS_RELAPSES_MAX ? replays->relapse_count
                                                                 : REPLAYS_RELAPSES_MAX;
    memcpy(out, replays->relapses, count * sizeof *out);
    pthread_mutex_unlock(&replays->mutex);
    return count;
}

void replays_totals(struct replays *replays, struct replays_totals *out) {
    pthread_mutex_lock(&replays->mutex);
    *out = replays->totals;
    LIST_EACH(node, &replays->active)
    out->active[CONTAINER_OF(node, struct replay, link)->state]++;
    pthread_mutex_unlock(&replays->mutex);
}
