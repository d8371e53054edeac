/* adopt_batch: makes letters of a batch of received messages.
 *
 * A letter and the record by which its message is recognised later (adopt_seen.c) are in one
 * commit, so that a crash leaves both or neither. Only messages whose commit is durable count as
 * done; the caller may acknowledge these. Two messages with the same identity are never in one
 * commit: the second is looked up after the first is durable, and is counted behind it.
 *
 * Runs on the entry's thread, under adopt.letting: no other entry changes which ids are free and
 * how much room the DLQ has between the look-up and the commit. */
#include <assert.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "triage/adopt/adopt_state.h"
#include "triage/adopt/formats/convention.h"

#define SOURCE_ID_HEADER BYTES("Impound-Source-Id")

enum {
    BATCH_ARENA_CHUNK = 16 * 1024,
    COMMIT_BYTES_MAX = 8 * 1024 * 1024,
    /* at most, of one message: forget the peeked letter, put the new one, and two records of it */
    OPS_EACH = 4,
    LETTERS_EACH = 2, /* letters that its ops point to: the new one, and the stored one */
};

struct batch {
    struct adopt_place *place;
    struct triage *triage;
    struct instant now;
    struct arena arena;
    struct store_op ops[OPS_EACH * ADOPT_AT_ONCE];
    size_t op_count;
    size_t bytes; /* of the ops' bodies */
    struct message *letters[LETTERS_EACH * ADOPT_AT_ONCE];
    size_t letter_count;
    /* of the messages, in the order received */
    struct adopt_identity identities[ADOPT_AT_ONCE];
    size_t done, safe; /* processed; durable */
    size_t room;       /* for new letters in the DLQ */
    bool full;
    uint64_t adopted, known, taken;
    struct err *err;
};

/* Keeps the letter until the commit that points to it is answered. */
static struct message *keep(struct batch *batch, struct message *letter_take) {
    assert(batch->letter_count < sizeof batch->letters / sizeof *batch->letters);
    return batch->letters[batch->letter_count++] = letter_take;
}

/* ---- a letter ---- */

static void hash_body(struct message *held) {
    struct envelope *envelope = &held->envelope;
    unsigned char hash[crypto_hash_sha256_BYTES];
    crypto_hash_sha256(hash, (const unsigned char *)held->body.ptr, held->body.len);
    sodium_bin2hex(envelope->content_hash, sizeof envelope->content_hash, hash, sizeof hash);
}

static bool is_id_in_commit(const struct batch *batch, const struct envelope *envelope) {
    for (size_t i = 0; i < batch->op_count; i++) {
        const struct envelope *other = batch->ops[i].envelope;
        if (other && bytes_eq(other->id, envelope->id) && bytes_eq(other->queue, envelope->queue))
            return true;
    }
    return false;
}

/* The queue holds this id already, for another message or for another death of the same one. Both
 * stay: the new one gets an id of its own. */
static void give_id(struct message *held) {
    struct envelope *envelope = &held->envelope;
    size_t count = envelope->header_count;
    struct rule_header *headers = arena_alloc(&held->arena, (count + 1) * sizeof *headers);
    if (count > 0)
        memcpy(headers, envelope->headers, count * sizeof *headers);
    headers[count] = (struct rule_header){SOURCE_ID_HEADER, envelope->id};
    envelope->headers = headers;
    envelope->header_count = count + 1;
    envelope->id = envelope->letter_id;
}

static struct bytes queue_of(const struct adopt_place *place, struct message *held) {
    const struct adopt_options *options = &place->adopt->options;
    if (place->entry->queue.len > 0)
        return place->entry->queue;
    struct bytes home = adopt_home_find(options->homes, options->home_count, place->entry->server,
                                        held->envelope.source, &held->arena);
    return home.len > 0 ? home : held->envelope.queue;
}

/* Whether it becomes a pending_retry message instead of a letter. */
static bool is_scheduled(const struct batch *batch, const struct envelope *envelope) {
    const struct adopt_options *options = &batch->place->adopt->options;
    return batch->place->entry->mode == ADOPT_TAKE && envelope->state == STATE_PENDING_REVIEW &&
           envelope->next_attempt_at.ms != WALL_NEVER.ms && options->queue &&
           options->queue(options->arg, envelope->queue);
}

/* The cap counts unresolved letters alone. */
static bool needs_room(const struct batch *batch, const struct envelope *envelope) {
    return envelope->state == STATE_PENDING_REVIEW && !is_scheduled(batch, envelope);
}

static void make_letter(struct batch *batch, struct message *held) {
    const struct adopt_entry *entry = batch->place->entry;
    const struct adopt_options *options = &batch->place->adopt->options;
    struct envelope *envelope = &held->envelope;
    char id[UUID_TEXT_SIZE];
    convention_read(convention_find(held), batch->place->adopt->options.brokers, entry->name,
                    batch->now.wall, held);
    triage_new_id(batch->triage, batch->now.wall, id);
    envelope->letter_id = arena_dup(&held->arena, bytes_of(id));
    envelope->dlq = entry->dlq;
    envelope->owner = options->dlq(options->arg, entry->dlq, &held->arena).owner;
    envelope->queue = queue_of(batch->place, held);
    if (envelope->created_at.ms == WALL_NEVER.ms)
        envelope->created_at = batch->now.wall;
    envelope->read_only = entry->mode == ADOPT_PEEK;
    hash_body(held);
    if (!is_scheduled(batch, envelope))
        envelope->next_attempt_at = WALL_NEVER;
}

/* The message becomes due when its own system had scheduled it. The attempts that its queue allows
 * are the queue's setting, not the other system's. */
static void make_message(const struct batch *batch, struct envelope *envelope) {
    int64_t delay_ms = envelope->next_attempt_at.ms - batch->now.wall.ms;
    lifecycle_defer_death(envelope);
    envelope->delay_ms = delay_ms > 0 ? delay_ms : 0;
    envelope->dlq = envelope->owner = BYTES_NONE;
    envelope->cause = (enum cause)0;
    envelope->why = BYTES_NONE;
    envelope->max_attempts = 0;
}

/* ---- one message ---- */

static void remember(struct batch *batch, struct adopt_seen *seen) {
    assert(batch->op_count + 2 <= sizeof batch->ops / sizeof *batch->ops);
    if (seen->name[0] == '\0')
        return;
    struct wall until = seen->as == ADOPT_PEEKED ? WALL_NEVER : adopt_seen_until(batch->now.wall);
    batch->ops[batch->op_count++] = adopt_seen_op(seen, seen->name, until, &batch->arena);
    if (seen->also[0])
        batch->ops[batch->op_count++] = adopt_seen_op(seen, seen->also, until, &batch->arena);
}

/* A letter of its own: the message itself may have to be handed back unchanged. */
static struct message *letter_new(struct batch *batch, const struct message *held) {
    struct message *letter = message_new();
    letter->envelope = held->envelope;
    letter->body = held->body;
    letter->delivery = held->delivery;
    make_letter(batch, letter);
    return letter;
}

static void remember_letter(struct batch *batch, struct adopt_seen *seen,
                            const struct envelope *envelope) {
    seen->as = envelope->read_only ? ADOPT_PEEKED : ADOPT_OURS;
    seen->letter = envelope->letter_id.len > 0 ? envelope->letter_id : envelope->id;
    seen->queue = envelope->queue;
    remember(batch, seen);
    batch->adopted++;
}

static void put_letter(struct batch *batch, struct message *held, bool id_held,
                       struct adopt_seen *seen) {
    assert(batch->op_count < sizeof batch->ops / sizeof *batch->ops);
    assert(batch->room > 0 || !needs_room(batch, &held->envelope));
    struct store *store = batch->triage->store;
    bool scheduled = is_scheduled(batch, &held->envelope);
    bool roomy = needs_room(batch, &held->envelope);
    if (id_held || is_id_in_commit(batch, &held->envelope))
        give_id(held);
    if (scheduled)
        make_message(batch, &held->envelope);
    batch->ops[batch->op_count++] =
        (struct store_op){.kind = STORE_PUT,
                          .queue = store->vtable->queue_number(store, held->envelope.queue),
                          .envelope = &held->envelope,
                          .body = held->body};
    batch->bytes += held->body.len;
    remember_letter(batch, seen, &held->envelope);
    batch->room -= roomy;
}

/* The message is a letter that was sent to its origin: it becomes the same letter again, or it is a
 * duplicate delivery of it. Where the store does not know yet that the letter arrived at its
 * origin, the message is refused as busy, and redelivered later. */
static enum status put_comeback(struct batch *batch, const struct adopt_comeback *comeback,
                                const struct message *came, struct adopt_seen *seen) {
    assert(comeback->is != COMEBACK_STRANGER && comeback->letter);
    struct message *letter = comeback->letter;
    if (comeback->is == COMEBACK_EARLY)
        return err_set(batch->err, STATUS_BUSY, "letter %.*s is still being sent",
                       BYTES_ARG(letter->envelope.letter_id));
    if (comeback->is == COMEBACK_HELD) {
        batch->known++;
        return STATUS_OK;
    }
    if (batch->room == 0) { /* the letter is pending_review again, whatever the message was */
        batch->full = true;
        return STATUS_OK;
    }
    batch->ops[batch->op_count++] = adopt_comeback_op(batch->triage->store, letter, came);
    remember_letter(batch, seen, &letter->envelope);
    batch->room--;
    return STATUS_OK;
}

/* SEMANTICS 1.3 (b): the source marks the message as redelivered, and a letter with its id and body
 * exists that is undecided, or was decided when it was adopted. A message with coordinates or a
 * delivery name is recognised by these instead (seen->name). */
static bool is_redelivery(const struct message *message, const struct message *letter,
                          const struct message *came, const struct adopt_seen *seen) {
    if (!message->redelivered || seen->name[0] || !letter || letter->envelope.read_only)
        return false;
    enum state state = letter->envelope.state;
    bool decided = state == STATE_RESOLVED || state == STATE_DISCARDED;
    return (!decided || state == came->envelope.state) &&
           bytes_eq(letter->envelope.id, came->envelope.id) &&
           bytes_eq(letter->envelope.queue, came->envelope.queue) &&
           bytes_eq(letter->body, came->body);
}

static enum status add_new(struct batch *batch, const struct message *message,
                           struct adopt_seen *seen) {
    struct adopt_comeback comeback;
    struct message *came = keep(batch, letter_new(batch, message));
    enum status status =
        adopt_comeback_find(batch->triage->store, message, came, &comeback, batch->err);
    if (comeback.letter)
        keep(batch, comeback.letter);
    if (status != STATUS_OK)
        return status;
    if (is_redelivery(message, comeback.letter, came, seen)) {
        batch->known++;
        return STATUS_OK;
    }
    if (batch->room == 0 && needs_room(batch, &came->envelope)) {
        batch->full = true;
        return STATUS_OK;
    }
    if (comeback.is != COMEBACK_STRANGER)
        return put_comeback(batch, &comeback, came, seen);
    put_letter(batch, came, comeback.id_held, seen);
    return STATUS_OK;
}

/* A peeked letter that was released and then resolved or discarded: the message taken now is
 * another one. */
static bool is_decided(const struct envelope *letter) {
    return !letter->read_only && letter->state != STATE_PENDING_REVIEW;
}

/* A peeked message that its system had scheduled for a retry: its letter is replaced by a
 * pending_retry message, in one commit. */
static bool reschedule(struct batch *batch, const struct message *held,
                       const struct message *letter, struct adopt_seen *seen) {
    struct store *store = batch->triage->store;
    struct message *came = keep(batch, letter_new(batch, held));
    if (!is_scheduled(batch, &came->envelope))
        return false;
    came->envelope.id = letter->envelope.id;
    batch->ops[batch->op_count++] =
        (struct store_op){.kind = STORE_FORGET,
                          .queue = store->vtable->queue_number(store, letter->envelope.queue),
                          .seq = letter->seq,
                          .from = 1u << STATE_PENDING_REVIEW};
    put_letter(batch, came, false, seen);
    return true;
}

/* The message was peeked before. If its letter is gone or decided, it is a new message. */
static enum status add_taken(struct batch *batch, const struct message *held,
                             struct adopt_seen *seen) {
    assert(seen->as == ADOPT_PEEKED && batch->place->entry->mode == ADOPT_TAKE);
    struct store *store = batch->triage->store;
    struct message *letter = NULL;
    enum status status =
        letters_get(store->letters, seen->queue, seen->letter, &letter, batch->err);
    if (status == STATUS_NOT_FOUND)
        return add_new(batch, held, seen);
    if (status != STATUS_OK)
        return status;
    if (is_decided(&letter->envelope)) {
        message_free(letter);
        return add_new(batch, held, seen);
    }
    keep(batch, letter);
    if (letter->envelope.read_only && reschedule(batch, held, letter, seen))
        return STATUS_OK;
    if (letter->envelope.read_only)
        batch->ops[batch->op_count++] = adopt_seen_own_op(store, letter, BYTES_NONE);
    seen->as = ADOPT_OURS;
    remember(batch, seen);
    batch->taken++;
    return STATUS_OK;
}

static bool is_body_of(struct batch *batch, const struct message *held,
                       const struct message *letter) {
    struct json source, origin;
    if (letter->envelope.edited || (json_parse(held->envelope.source, &source, NULL) == STATUS_OK &&
                                    json_get(source, "origin", &origin)))
        return true; /* not comparable: the body behind a pointer may be gone */
    struct message *came = letter_new(batch, held);
    bool same = bytes_eq(came->body, letter->body) || bytes_eq(held->body, letter->body);
    message_free(came);
    return same;
}

/* Earlier versions recorded coordinates without a hash. The place may have been deleted and created
 * again since, so that another message has these coordinates. The letter's body decides; without a
 * letter the message counts as known. */
static enum status compare(struct batch *batch, const struct message *held,
                           struct adopt_seen *seen) {
    struct store *store = batch->triage->store;
    struct message *letter = NULL;
    enum status status =
        letters_get(store->letters, seen->queue, seen->letter, &letter, batch->err);
    if (status == STATUS_OK && !is_body_of(batch, held, letter)) {
        seen->as = ADOPT_NEW;
        seen->also[0] = '\0';
    }
    message_free(letter);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status add(struct batch *batch, const struct message *held) {
    struct adopt_place *place = batch->place;
    const struct adopt_identity *identity = &batch->identities[batch->done];
    struct adopt_seen seen;
    bool taking = place->entry->mode == ADOPT_TAKE, own;
    enum status status = adopt_own(place, held, &own, batch->err);
    if (status != STATUS_OK)
        return status;
    if (own) {
        batch->known++;
        return STATUS_OK;
    }
    status = taking ? adopt_seen_take(place, identity, &batch->arena, &seen, batch->err)
                    : adopt_seen_peek(place, identity, &batch->arena, &seen, batch->err);
    if (status == STATUS_OK && seen.printless)
        status = compare(batch, held, &seen);
    if (status != STATUS_OK)
        return status;
    if (seen.as == ADOPT_NEW)
        return add_new(batch, held, &seen);
    if (seen.as == ADOPT_PEEKED && taking)
        return add_taken(batch, held, &seen);
    batch->known++;
    return STATUS_OK;
}

/* ---- commits ---- */

static void note(struct batch *batch) {
    struct adopt *adopt = batch->place->adopt;
    const struct adopt_options *options = &adopt->options;
    struct adopt_view *view = &batch->place->view;
    uint64_t changed = batch->adopted + batch->taken;
    pthread_mutex_lock(&adopt->mutex);
    view->adopted += batch->adopted;
    view->known += batch->known;
    view->taken += batch->taken;
    view->last = batch->now.wall;
    pthread_mutex_unlock(&adopt->mutex);
    batch->adopted = batch->known = batch->taken = 0;
    if (changed > 0 && options->news)
        options->news(options->arg, batch->place->entry, changed);
}

/* The update of a letter that comes back is skipped if the letter was changed since it was read, or
 * is in the commit twice. Its record must not stay then: drop it, and report busy, so that the
 * message is redelivered and looked up again. */
static enum status forget_skipped(struct batch *batch) {
    struct store_op drops[ADOPT_AT_ONCE];
    size_t count = 0;
    bool any = false;
    for (size_t i = 0; i < batch->op_count; i++) {
        if (!batch->ops[i].skipped || batch->ops[i].from != 1u << STATE_RESOLVED)
            continue;
        any = true;
        if (i + 1 < batch->op_count && batch->ops[i + 1].kind == STORE_KEEP) {
            drops[count] = batch->ops[i + 1];
            drops[count++].keep.value = BYTES_NONE;
        }
    }
    if (!any)
        return STATUS_OK;
    enum status status = count ? triage_commit(batch->triage, drops, count, batch->err) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    return err_set(batch->err, STATUS_BUSY, "a letter that came back was changed at the same time");
}

static enum status flush(struct batch *batch) {
    assert(batch->safe <= batch->done);
    enum status status = STATUS_OK;
    if (batch->op_count > 0)
        status = triage_commit(batch->triage, batch->ops, batch->op_count, batch->err);
    if (status == STATUS_OK)
        status = forget_skipped(batch);
    if (status == STATUS_OK) {
        note(batch);
        batch->safe = batch->done;
    }
    for (size_t i = 0; i < batch->letter_count; i++)
        message_free(batch->letters[i]);
    batch->op_count = batch->letter_count = batch->bytes = 0;
    return status;
}

/* Whether a message with this identity is in the commit that is being filled. */
static bool is_in_commit(const struct batch *batch, const struct adopt_identity *identity) {
    for (size_t i = batch->safe; i < batch->done; i++)
        if (memcmp(batch->identities[i].text, identity->text, sizeof identity->text) == 0)
            return true;
    return false;
}

static void begin(struct batch *batch, struct adopt_place *place, struct message *const *held,
                  size_t count) {
    batch->place = place;
    batch->triage = place->adopt->options.triage;
    batch->now = triage_now(batch->triage);
    batch->room = adopt_room(place);
    for (size_t i = 0; i < count; i++)
        adopt_identity_of(place->adopt->options.brokers, held[i], &batch->identities[i]);
    arena_init_heap(&batch->arena, BATCH_ARENA_CHUNK);
}

static void end(struct batch *batch) {
    for (size_t i = 0; i < batch->letter_count; i++)
        message_free(batch->letters[i]);
    arena_free(&batch->arena);
    free(batch);
}

/* The update of a letter that comes back may be skipped by the store, so it has a commit of its
 * own: otherwise it would be unknown which of the others are durable. */
static bool goes_alone(const struct message *held) {
    struct comeback comeback;
    return comeback_read(held->envelope.headers, held->envelope.header_count, &comeback);
}

static enum status add_all(struct batch *batch, struct message *const *held, size_t count) {
    enum status status = STATUS_OK;
    for (; batch->done < count && status == STATUS_OK; batch->done++) {
        bool alone =
            goes_alone(held[batch->done]) || (batch->done > 0 && goes_alone(held[batch->done - 1]));
        if (alone || batch->bytes > COMMIT_BYTES_MAX ||
            is_in_commit(batch, &batch->identities[batch->done]))
            status = flush(batch);
        if (status == STATUS_OK)
            status = add(batch, held[batch->done]);
        if (status != STATUS_OK || batch->full)
            break;
    }
    return status == STATUS_OK ? flush(batch) : status;
}

enum status adopt_batch(struct adopt_place *place, struct message *const *held, size_t count,
                        size_t *done, struct err *err) {
    assert(count <= ADOPT_AT_ONCE);
    struct batch *batch = memory_new(sizeof *batch);
    pthread_mutex_lock(&place->adopt->letting);
    begin(batch, place, held, count);
    batch->err = err;
    enum status status = add_all(batch, held, count);
    pthread_mutex_unlock(&place->adopt->letting);
    *done = batch->safe;
    end(batch);
    return status;
}
