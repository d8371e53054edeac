/* replay_recover: crash recovery of replays: active ones are read back from the store at start.
 *
 * Outcomes are written in the commits that send the letters, so a letter with outcome `sent` was
 * sent, and its own state tells its outcome. Nothing is sent twice from here; letters that were in
 * flight at a handler are redelivered by the engine. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/replay/replay_state.h"

enum { LIST_ARENA_CHUNK = 4096 };

/* A letter with outcome `sent`: finds its present outcome, or puts it back in flight. */
static void restore_sent(struct replay *replay, struct replay_part *part, uint32_t at) {
    assert(replay_part_outcome(part, at) == REPLAYED_SENT);
    struct store *store = replay->replays->triage->store;
    const struct replay_letter *letter = &part->letters[at];
    uint64_t frozen = (uint64_t)part->number * REPLAY_PART_LETTERS + at;
    const struct replay_around *around = &replay->replays->around;
    struct bytes queue = replay_order_queue(&replay->order, letter->queue);
    struct message *held = NULL;
    struct err err;
    if (letters_get(store->letters, queue, letter->id, &held, &err) != STATUS_OK) {
        replay_part_note(part, at, REPLAYED_CHANGED, BYTES("it is no longer held"));
        return;
    }
    const struct envelope *envelope = &held->envelope;
    if (envelope->to_origin)
        around->serve(around->arg, envelope->queue);
    if (!bytes_is(envelope->replay, replay->id))
        replay_part_note(part, at, REPLAYED_CHANGED, BYTES("it was changed meanwhile"));
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

/* Keeps a part in memory while it has letters in flight or changes; others are loaded again when
 * they are sent. */
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
            restore_sent(replay, part, at);
        if (replay_part_outcome(part, at) == REPLAYED_WAITING)
            replay->next = earlier(replay->next, replay_frozen(replay, frozen));
    }
    replay_part_count(part, &replay->counts);
    keep_part(replay, part);
    return STATUS_OK;
}

static enum status read_parts(struct replay *replay, struct err *err) {
    assert(replay->claims == NULL && replay->under_way.count == 0);
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

/* Loads a replay without its letters. Free *out in any case. */
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

static enum status resume(struct replays *replays, struct bytes id, struct err *err) {
    struct replay *replay;
    enum status status = read_doc(replays, id, &replay, err);
    if (status == STATUS_OK)
        status = read_parts(replay, err);
    if (status != STATUS_OK) {
        replay_free(replay);
        return status;
    }
    replay->changed = true;
    list_push_front(&replays->active, &replay->link); /* the newest is visited first */
    log_info("replay %s: resumed after restart, %llu of %llu sent", replay->id,
             (unsigned long long)replay_sent(&replay->counts),
             (unsigned long long)replay->selected);
    return STATUS_OK;
}

/* Reports an aborted replay again, since the alert may not have been sent before the restart. */
static enum status report_relapse(struct replays *replays, struct bytes id, struct err *err) {
    struct replay *replay;
    enum status status = read_doc(replays, id, &replay, err);
    if (status == STATUS_OK)
        replay_note_relapse(replay);
    replay_free(replay);
    return status;
}

/* Visits the marked replays, newest first. One that cannot be read is logged and skipped: its
 * letters stay safe in the store. */
static enum status each_marked(struct replays *replays, const char *prefix, size_t most,
                               enum status (*visit)(struct replays *, struct bytes, struct err *),
                               struct err *err) {
    assert(most <= REPLAYS_ACTIVE_MAX);
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
            log_error("replay %.*s cannot be recovered, skipping it: %s", BYTES_ARG(id),
                      trouble.text);
    }
    arena_free(&arena);
    return status;
}

enum status replays_recover(struct replays *replays, struct err *err) {
    enum status status = each_marked(replays, "a/", REPLAYS_ACTIVE_MAX, resume, err);
    if (status == STATUS_OK)
        status = each_marked(replays, "w/", REPLAYS_RELAPSES_MAX, report_relapse, err);
    return status;
}
