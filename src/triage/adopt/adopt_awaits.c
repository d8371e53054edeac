/* adopt_awaits: whether the broker may still hold a peeked message. Taking such a message needs no
 * room in the DLQ, because its letter is there already. */
#include "triage/adopt/adopt_pages.h"

static enum status check_one(struct adopt_place *place, const struct letters_note *kept,
                             struct arena *arena, bool *awaited, struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    struct message *held = NULL;
    struct adopt_seen seen = {0};
    enum status status = adopt_seen_read(kept->value, arena, &seen, err);
    *awaited = false;
    if (status != STATUS_OK || seen.as != ADOPT_PEEKED)
        return status;
    status = letters_get(store->letters, seen.queue, seen.letter, &held, err);
    *awaited = status == STATUS_OK && held->envelope.read_only;
    message_free(held);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status check_page(struct adopt_place *place, struct adopt_page *page, bool *any,
                              struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < page->count && status == STATUS_OK && !*any; i++)
        status = check_one(place, &page->kept[i], &page->arena, any, err);
    return status;
}

enum status adopt_awaits(struct adopt_place *place, bool *any, struct err *err) {
    return adopt_pages_walk(place, check_page, any, err);
}
