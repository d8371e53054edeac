/* What was looked at, was not taken since, and did not come when everything there was taken: nobody
 * else has it any more, so that people may decide about it. And whether there is any such at all.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/memory.h"
#include "triage/adopt_state.h"

#define GONE_WHY "its broker did not have it any more when it was to be taken"

enum { RELEASE_ARENA_CHUNK = 16 * 1024, RELEASE_PAGE = 128 };

struct releasing {
    struct adopt_place *place;
    struct store_op ops[2 * RELEASE_PAGE];
    struct store_held *letters[RELEASE_PAGE];
    size_t op_count, letter_count;
    struct wall now;
};

/* It may be decided about: nobody else has it any more. Should it come after all, it is this one.
 */
static enum status release(struct releasing *releasing, const struct store_kept *kept,
                           struct arena *arena, struct err *err) {
    struct store *store = releasing->place->adopt->options.triage->store;
    struct store_held *held = NULL;
    struct adopt_seen seen = {0};
    snprintf(seen.name, sizeof seen.name, "%.*s", BYTES_ARG(kept->name));
    enum status status = adopt_seen_read(kept->value, arena, &seen, err);
    if (status != STATUS_OK || seen.as != ADOPT_PEEKED)
        return status;
    status = store->vtable->get(store, seen.queue, seen.letter, &held, err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    if (!held->envelope.read_only) {
        store_held_free(held);
        return STATUS_OK;
    }
    releasing->letters[releasing->letter_count++] = held;
    releasing->ops[releasing->op_count++] = adopt_seen_own_op(store, held, BYTES(GONE_WHY));
    releasing->ops[releasing->op_count++] =
        adopt_seen_op(&seen, seen.name, adopt_seen_until(releasing->now), arena);
    return STATUS_OK;
}

static enum status release_page(struct adopt_place *place, const struct store_kept *page,
                                size_t count, struct arena *arena, bool *over, struct err *err) {
    (void)over;
    struct triage *triage = place->adopt->options.triage;
    struct releasing *releasing = memory_new(sizeof *releasing);
    enum status status = STATUS_OK;
    releasing->place = place;
    releasing->now = triage_now(triage).wall;
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = release(releasing, &page[i], arena, err);
    if (status == STATUS_OK && releasing->op_count > 0)
        status = triage_commit(triage, releasing->ops, releasing->op_count, err);
    if (status == STATUS_OK && releasing->letter_count > 0)
        log_info("adopt %.*s: %zu letters that were looked at are not there any more; they can be "
                 "decided about",
                 BYTES_ARG(place->entry->name), releasing->letter_count);
    for (size_t i = 0; i < releasing->letter_count; i++)
        store_held_free(releasing->letters[i]);
    free(releasing);
    return status;
}

/* ---- all that is remembered ---- */

typedef enum status on_page(struct adopt_place *place, const struct store_kept *page, size_t count,
                            struct arena *arena, bool *over, struct err *err);

/* Until one says that it is over. */
static enum status each_page(struct adopt_place *place, on_page *visit, bool *over,
                             struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    char prefix[ADOPT_NAME_MAX], after[ADOPT_NAME_MAX] = "";
    enum status status = STATUS_OK;
    size_t count = RELEASE_PAGE;
    *over = false;
    snprintf(prefix, sizeof prefix, "%.*s/", BYTES_ARG(place->entry->name));
    while (count == RELEASE_PAGE && status == STATUS_OK && !*over) {
        struct store_kept page[RELEASE_PAGE];
        struct arena arena;
        arena_init_heap(&arena, RELEASE_ARENA_CHUNK);
        status = store->vtable->kept_list(store, SPACE_ADOPTED, bytes_of(prefix), bytes_of(after),
                                          false, RELEASE_PAGE, &arena, page, &count, err);
        if (status == STATUS_OK && count > 0) {
            snprintf(after, sizeof after, "%.*s", BYTES_ARG(page[count - 1].name));
            status = visit(place, page, count, &arena, over, err);
        }
        arena_free(&arena);
    }
    return status;
}

void adopt_release(struct adopt_place *place, struct instant now) {
    struct err err;
    bool over;
    if (place->released || now.mono.ms - place->quiet_from.ms < ADOPT_QUIET_MS)
        return;
    place->released = each_page(place, release_page, &over, &err) == STATUS_OK;
    if (!place->released)
        adopt_trouble(place, ADOPT_WAITING, &err);
}

/* ---- what may still come ---- */

static enum status look_at(struct adopt_place *place, const struct store_kept *kept,
                           struct arena *arena, bool *awaited, struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    struct store_held *held = NULL;
    struct adopt_seen seen = {0};
    enum status status = adopt_seen_read(kept->value, arena, &seen, err);
    if (status != STATUS_OK || seen.as != ADOPT_PEEKED) {
        *awaited = status == STATUS_OK && seen.as == ADOPT_UNHEARD;
        return status;
    }
    status = store->vtable->get(store, seen.queue, seen.letter, &held, err);
    *awaited = status == STATUS_OK && held->envelope.read_only;
    store_held_free(held);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

static enum status look_at_page(struct adopt_place *place, const struct store_kept *page,
                                size_t count, struct arena *arena, bool *over, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK && !*over; i++)
        status = look_at(place, &page[i], arena, over, err);
    return status;
}

enum status adopt_awaits(struct adopt_place *place, bool *any, struct err *err) {
    return each_page(place, look_at_page, any, err);
}
