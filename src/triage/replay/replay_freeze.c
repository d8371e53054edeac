/* replay_freeze: the selection of a replay is frozen to letter ids, which are written to the store
 * part by part before the replay exists. In memory it takes one hash per letter (its claim). */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/comeback.h"
#include "core/pointer.h"
#include "triage/replay/replay_state.h"

enum { FREEZE_ARENA_CHUNK = 64 * 1024, DOUBT_MAX = 200 /* bytes of why */ };

/* The active replay that claims a letter; "": none. */
static void claimed_by(struct replays *replays, struct bytes letter_id, char id[UUID_TEXT_SIZE]) {
    id[0] = '\0';
    pthread_mutex_lock(&replays->mutex);
    LIST_EACH(node, &replays->active) {
        const struct replay *other = CONTAINER_OF(node, struct replay, link);
        if (replay_claims(other, letter_id))
            snprintf(id, UUID_TEXT_SIZE, "%s", other->id);
    }
    pthread_mutex_unlock(&replays->mutex);
}

bool replays_claim(struct replays *replays, struct bytes letter_id) {
    char id[UUID_TEXT_SIZE];
    claimed_by(replays, letter_id, id);
    return id[0] != '\0';
}

enum status replay_check_free(struct replays *replays, const struct envelope *letter,
                              struct err *err) {
    char id[UUID_TEXT_SIZE];
    if (letter->compensating)
        return err_set(err, STATUS_CONFLICT, "letter %.*s is being compensated; wait for it",
                       BYTES_ARG(letter->letter_id));
    /* It is sent already: aborting its replay would not stop it. */
    if (letter->state == STATE_REPLAYING)
        return err_set(err, STATUS_CONFLICT,
                       "letter %.*s is being replayed by replay %.*s; wait for it",
                       BYTES_ARG(letter->letter_id), BYTES_ARG(letter->replay));
    claimed_by(replays, letter->letter_id, id);
    if (!id[0])
        return STATUS_OK;
    return err_set(err, STATUS_CONFLICT,
                   "letter %.*s is part of replay %s; wait for that replay or abort it",
                   BYTES_ARG(letter->letter_id), id);
}

/* The record at the letter's offset may have been replaced since: sending it to the origin unseen
 * could duplicate another message. */
static enum status check_doubt(const struct replay_order *order, const struct envelope *letter,
                               struct err *err) {
    struct arena arena;
    if (order->edit.len > 0 || !pointer_is_doubtful(letter->source))
        return STATUS_OK;
    arena_init_heap(&arena, DOUBT_MAX);
    struct bytes words = pointer_why(letter->source, &arena);
    err_set(err, STATUS_INVALID,
            "to: letter %.*s may have the body of another message: %.*s. If it is the right one, "
            "replay it with an edit (--edit . changes nothing); otherwise discard it or exclude it",
            BYTES_ARG(letter->letter_id), BYTES_ARG(bytes_clip(words, DOUBT_MAX)));
    arena_free(&arena);
    return STATUS_INVALID;
}

enum status replay_check_way(struct replays *replays, const struct replay_order *order,
                             const struct envelope *letter, char origin[REPLAY_ORIGIN_SIZE],
                             struct err *err) {
    const struct replay_around *around = &replays->around;
    if (order->edit.len == 0 && letter->body_damaged)
        return err_set(
            err, STATUS_INVALID,
            "the body of letter %.*s is damaged (it does not match content_hash); give it a new "
            "body with `edit`, discard the letter, or exclude it (where: .message.body_damaged | "
            "not)",
            BYTES_ARG(letter->letter_id));
    if (replay_order_to_origin(order)) {
        enum status status = around->origin(around->arg, letter, origin, err);
        return status == STATUS_OK ? check_doubt(order, letter, err) : status;
    }
    if (order->edit.len == 0 && pointer_is_empty(letter))
        return err_set(
            err, STATUS_INVALID,
            "the message of letter %.*s was gone before it could be read, so it has no body; give "
            "it one with `edit`, discard the letter, or exclude it (where: .source.gone or "
            ".source.origin.gone | not)",
            BYTES_ARG(letter->letter_id));
    if (replays_know(replays, replay_order_queue(order, letter->queue)))
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "letter %.*s belongs to queue \"%.*s\", which is not in the configuration: send "
                   "it to another queue, or to its origin (to: \"" COMEBACK_ORIGIN "\")",
                   BYTES_ARG(letter->letter_id), BYTES_ARG(bytes_clip(letter->queue, 255)));
}

struct freezing {
    struct replay *replay;
    const struct replay_order *order;
    struct replay_part *part;
    uint32_t part_count;
    uint64_t room; /* allocated claims */
    enum status status;
    struct err *err;
};

static void write_part(struct freezing *freezing) {
    assert(freezing->part && freezing->part->count > 0);
    struct replay *replay = freezing->replay;
    struct triage *triage = replay->replays->triage;
    struct arena arena;
    arena_init_heap(&arena, FREEZE_ARENA_CHUNK);
    struct store_op op =
        replay_part_letters_op(freezing->part, replay->id, triage_now(triage).wall, &arena);
    freezing->status = triage_commit(triage, &op, 1, freezing->err);
    arena_free(&arena);
    replay_part_free(freezing->part);
    freezing->part = NULL;
}

static void claim(struct freezing *freezing, struct bytes letter_id) {
    assert(freezing->replay->selected <= freezing->room);
    struct replay *replay = freezing->replay;
    if (replay->selected == freezing->room) {
        freezing->room = freezing->room ? freezing->room * 2 : REPLAY_PART_LETTERS;
        replay->claims = memory_grow(replay->claims, freezing->room * sizeof *replay->claims);
    }
    replay->claims[replay->selected++] = bytes_hash(letter_id);
}

static bool visit(void *arg, const struct selection_letter *letter) {
    struct freezing *freezing = arg;
    struct replay *replay = freezing->replay;
    const struct envelope *envelope = letter->envelope;
    char origin[REPLAY_ORIGIN_SIZE];
    freezing->status = replay_check_free(replay->replays, envelope, freezing->err);
    if (freezing->status == STATUS_OK)
        freezing->status =
            replay_check_way(replay->replays, freezing->order, envelope, origin, freezing->err);
    if (freezing->status != STATUS_OK)
        return false;
    if (!freezing->part)
        freezing->part = replay_part_new(freezing->part_count++);
    replay_part_add(freezing->part, envelope->queue, envelope->letter_id);
    claim(freezing, envelope->letter_id);
    replay_add_name(replay, replay->queues, &replay->queue_count, envelope->queue);
    replay_add_name(replay, replay->dlqs, &replay->dlq_count, envelope->dlq);
    if (freezing->part->count == REPLAY_PART_LETTERS)
        write_part(freezing);
    return freezing->status == STATUS_OK;
}

static void drop_parts(const struct replay *replay, uint32_t count) {
    struct triage *triage = replay->replays->triage;
    for (uint32_t number = 0; number < count; number++) {
        struct arena arena;
        arena_init_heap(&arena, FREEZE_ARENA_CHUNK);
        struct replay_part *part = replay_part_new(number);
        struct store_op op =
            replay_part_letters_op(part, replay->id, triage_now(triage).wall, &arena);
        op.keep.value = BYTES_NONE;
        triage_commit(triage, &op, 1, NULL); /* parts that stay expire */
        replay_part_free(part);
        arena_free(&arena);
    }
}

enum status replay_freeze(struct replay *replay, const struct replay_order *order,
                          struct err *err) {
    assert(replay->selected == 0);
    struct freezing freezing = {.replay = replay, .order = order, .err = err};
    struct selection_result result;
    struct arena arena;
    arena_init_heap(&arena, FREEZE_ARENA_CHUNK);
    enum status status = selection_walk(replay->replays->triage, &order->selection, visit,
                                        &freezing, &arena, &result, err);
    arena_free(&arena);
    if (freezing.status != STATUS_OK)
        status = freezing.status;
    if (status == STATUS_OK && freezing.part) {
        write_part(&freezing);
        status = freezing.status;
    }
    replay_part_free(freezing.part);
    if (status != STATUS_OK)
        drop_parts(replay, freezing.part_count);
    else
        replay_sort_claims(replay);
    replay->counts.by[REPLAYED_WAITING] = replay->selected;
    return status;
}
