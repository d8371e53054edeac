/* What an earlier life left: replays that were not over, read back from the store.
 *
 * Outcomes were written in the commits that sent the letters, so a letter that is noted as sent was
 * sent, and the letter itself tells what became of it. Nothing is sent a second time from here;
 * what was in a handler's hands is handed over again by the engine. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/replay_state.h"

enum { LIST_ARENA_CHUNK = 4096 };

/* A letter that was noted as sent: still on its way, or what became of it. */
static void look_up(struct replay *replay, struct replay_part *part, uint32_t at) {
    struct store *store = replay->replays->triage->store;
    const struct replay_letter *letter = &part->letters[at];
    uint64_t frozen = (uint64_t)part->number * REPLAY_PART_LETTERS + at;
    const struct replay_around *around = &replay->replays->around;
    struct bytes queue = replay_order_queue(&replay->order, letter->queue);
    struct message *held = NULL;
    struct err err;
    if (letters_get(store->letters, queue, letter->id, &held, &err) != STATUS_OK) {
        replay_part_note(part, at, REPLAYED_CHANGED, BYTES("it is not held any more"));
        return;
    }
    const struct envelope *envelope = &held->envelope;
    if (envelope->to_origin)
        around->serve(around->arg, envelope->queue);
    if (!bytes_is(envelope->replay, replay->id))
        replay_part_note(part, at, REPLAYED_CHANGED, BYTES("it was decided meanwhile"));
    else if (envelope->state == STATE_REPLAYING)
        replay_put_under_way(replay, replay_frozen(replay, frozen), letter->id,
                             envelope->fingerprint);
    else if (envelope->state == STATE_RESOLVED)
        replay_part_note(part, at, REPLAYED_RESOLVED, BYTES_NONE);
    else if (envelope->state == STATE_DISCARDED)
        replay_part_note(part, at, REPLAYED_DISCARDED, BYTES_NONE);
    else
        replay_part_note(part, at, REPLAYED_FAILED, envelope->reason);
    message_free(held);
}

/* Those that nothing was sent of are read again when their turn comes. */
static void keep_part(struct replay *replay, struct replay_part *part) {
    struct replay_counts counts = {{0}};
    replay_part_count(part, &counts);
    if (part->dirty || counts.by[REPLAYED_SENT] > 0)
        list_push_back(&replay->parts, &part->link);
    else
        replay_part_free(part);
}

static uint64_t earlier(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static enum status read_part(struct replay *replay, uint32_t number, struct err *err) {
    struct replay_part *part;
    enum status status = replay_part_load(replay->replays->triage, replay->id, number, &part, err);
    if (status != STATUS_OK)
        return status;
    for (uint32_t at = 0; at < part->count; at++) {
        uint64_t frozen = (uint64_t)number * REPLAY_PART_LETTERS + at;
        if (frozen < replay->selected)
            replay->claims[frozen] = bytes_hash(part->letters[at].id);
        if (replay_part_outcome(part, at) == REPLAYED_SENT)
            look_up(replay, part, at);
        if (replay_part_outcome(part, at) == REPLAYED_WAITING)
            replay->next = earlier(replay->next, replay_frozen(replay, frozen));
    }
    replay_part_count(part, &replay->counts);
    keep_part(replay, part);
    return STATUS_OK;
}

static enum status read_parts(struct replay *replay, struct err *err) {
    uint64_t count = (replay->selected + REPLAY_PART_LETTERS - 1) / REPLAY_PART_LETTERS;
    replay->claims = memory_array(replay->selected + 1, sizeof *replay->claims);
    replay->next = replay->selected;
    for (uint64_t number = 0; number < count; number++) {
        enum status status = read_part(replay, (uint32_t)number, err);
        if (status != STATUS_OK)
            return status;
    }
    replay_sort_claims(replay);
    return STATUS_OK;
}

/* As its document has it, without its letters. Free *out in any case. */
static enum status read_doc(struct replays *replays, struct bytes id, struct replay **out,
                            struct err *err) {
    struct store *store = replays->triage->store;
    char text[UUID_TEXT_SIZE];
    struct bytes doc;
    snprintf(text, sizeof text, "%.*s", BYTES_ARG(id));
    struct replay *replay = *out = replay_new(replays, text);
    enum status status =
        letters_note(store->letters, 0, SPACE_REPLAY, replay_doc_name(id, &replay->arena),
                     replays->now.wall, &replay->arena, &doc, err);
    return status == STATUS_OK ? replay_doc_read(doc, replay, err) : status;
}

static enum status take_up(struct replays *replays, struct bytes id, struct err *err) {
    struct replay *replay;
    enum status status = read_doc(replays, id, &replay, err);
    if (status == STATUS_OK)
        status = read_parts(replay, err);
    if (status != STATUS_OK) {
        replay_free(replay);
        return status;
    }
    replay->changed = true;
    list_push_front(&replays->active, &replay->link); /* the newest comes first */
    log_info("replay %s: taken up again, %llu of %llu sent", replay->id,
             (unsigned long long)replay_sent(&replay->counts),
             (unsigned long long)replay->selected);
    return STATUS_OK;
}

/* Whoever is to be told may not have been told yet. */
static enum status tell_of(struct replays *replays, struct bytes id, struct err *err) {
    struct replay *replay;
    enum status status = read_doc(replays, id, &replay, err);
    if (status == STATUS_OK)
        replay_note_relapse(replay);
    replay_free(replay);
    return status;
}

/* What is done with each that an earlier life marked, the newest first. One that cannot be read is
 * passed over, loudly: its letters are safe where they are. */
static enum status each_marked(struct replays *replays, const char *prefix, size_t most,
                               enum status (*visit)(struct replays *, struct bytes, struct err *),
                               struct err *err) {
    struct store *store = replays->triage->store;
    struct letters_note marked[REPLAYS_ACTIVE_MAX];
    struct arena arena;
    size_t count = 0;
    arena_init_heap(&arena, LIST_ARENA_CHUNK);
    enum status status = letters_notes(store->letters, SPACE_REPLAY, bytes_of(prefix), BYTES_NONE,
                                       true, most, &arena, marked, &count, err);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        struct bytes id = bytes_cut(marked[i].name, 2, marked[i].name.len);
        struct err trouble;
        if (visit(replays, id, &trouble) != STATUS_OK)
            log_error("replay %.*s cannot be read: %s", BYTES_ARG(id), trouble.text);
    }
    arena_free(&arena);
    return status;
}

enum status replays_recover(struct replays *replays, struct err *err) {
    enum status status = each_marked(replays, "a/", REPLAYS_ACTIVE_MAX, take_up, err);
    if (status == STATUS_OK)
        status = each_marked(replays, "w/", REPLAYS_RELAPSES_MAX, tell_of, err);
    return status;
}
