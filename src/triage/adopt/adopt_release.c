/* adopt_release: letters that were peeked, and whose messages did not come although the broker is
 * drained, stop being read-only: the message is gone from its broker, so people may decide about
 * the letter. If the message comes after all, it is recognised as this letter. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/adopt/adopt_pages.h"

#define GONE_WHY "the broker no longer had it when everything there was taken"

struct releasing {
    struct adopt_place *place;
    struct store_op ops[2 * ADOPT_PAGE];
    struct message *letters[ADOPT_PAGE];
    size_t op_count, letter_count;
    struct wall now;
};

/* Adds the ops for one record: the letter stops being read-only, and the record gets an expiry. */
static enum status release(struct releasing *releasing, const struct letters_note *kept,
                           struct arena *arena, struct err *err) {
    struct store *store = releasing->place->adopt->options.triage->store;
    struct message *held = NULL;
    struct adopt_seen seen = {0};
    snprintf(seen.name, sizeof seen.name, "%.*s", BYTES_ARG(kept->name));
    enum status status = adopt_seen_read(kept->value, arena, &seen, err);
    if (status != STATUS_OK || seen.as != ADOPT_PEEKED)
        return status;
    status = letters_get(store->letters, seen.queue, seen.letter, &held, err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (!held->envelope.read_only) {
        message_free(held);
        return STATUS_OK;
    }
    releasing->letters[releasing->letter_count++] = held;
    releasing->ops[releasing->op_count++] = adopt_seen_own_op(store, held, BYTES(GONE_WHY));
    releasing->ops[releasing->op_count++] =
        adopt_seen_op(&seen, seen.name, adopt_seen_until(releasing->now), arena);
    return STATUS_OK;
}

static enum status release_page(struct adopt_place *place, struct adopt_page *page, bool *enough,
                                struct err *err) {
    struct triage *triage = place->adopt->options.triage;
    struct releasing *releasing = memory_new(sizeof *releasing);
    enum status status = STATUS_OK;
    *enough = false;
    releasing->place = place;
    releasing->now = triage_now(triage).wall;
    for (size_t i = 0; i < page->count && status == STATUS_OK; i++)
        status = release(releasing, &page->kept[i], &page->arena, err);
    if (status == STATUS_OK && releasing->op_count > 0)
        status = triage_commit(triage, releasing->ops, releasing->op_count, err);
    if (status == STATUS_OK && releasing->letter_count > 0)
        log_info("adopt %.*s: %zu peeked letters are no longer at the broker and are not read-only "
                 "any more",
                 BYTES_ARG(place->entry->name), releasing->letter_count);
    for (size_t i = 0; i < releasing->letter_count; i++)
        message_free(releasing->letters[i]);
    free(releasing);
    return status;
}

void adopt_release(struct adopt_place *place, struct instant now) {
    assert(place->entry->mode == ADOPT_TAKE && place->broker);
    struct err err;
    bool enough;
    if (place->released || now.mono.ms - place->quiet_from.ms < ADOPT_QUIET_MS)
        return;
    place->released = adopt_pages_walk(place, release_page, &enough, &err) == STATUS_OK;
    if (!place->released)
        adopt_trouble(place, ADOPT_WAITING, &err);
}
