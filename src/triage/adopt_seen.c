/* What was seen, by entry and identity. The nth of those that look the same has its own name:
 *
 *   <entry>/<hex>/<n>  →  {"letter":"0190…","queue":"orders","peeked":true}
 *
 * A peeked one is remembered for as long as it is read-only; a taken one for ADOPT_REMEMBERED_MS.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/adopt_state.h"

#define GONE_WHY "its broker did not have it any more when it was to be taken"

enum { SEEN_TEXT_MAX = 8 * 1024, SEEN_ARENA_CHUNK = 16 * 1024, RELEASE_PAGE = 128 };

/* ---- one name ---- */

static void name_it(const struct adopt_place *place, const struct adopt_identity *identity,
                    uint64_t number, struct adopt_seen *out) {
    snprintf(out->name, sizeof out->name, "%.*s/%s/%llu", BYTES_ARG(place->entry->name),
             identity->text, (unsigned long long)number);
}

static enum status read_value(struct bytes value, struct arena *arena, struct adopt_seen *out,
                              struct err *err) {
    struct json json, member;
    bool peeked = false;
    if (json_parse(value, &json, err) != STATUS_OK)
        return STATUS_CORRUPT;
    if (!json_get(json, "letter", &member) || !json_string(member, arena, &out->letter) ||
        !json_get(json, "queue", &member) || !json_string(member, arena, &out->queue))
        return err_set(err, STATUS_CORRUPT, "\"%s\" of adopted cannot be read", out->name);
    if (json_get(json, "peeked", &member))
        json_bool(member, &peeked);
    out->as = peeked ? ADOPT_PEEKED : ADOPT_OURS;
    return STATUS_OK;
}

static enum status look_up(struct adopt_place *place, struct arena *arena, struct adopt_seen *out,
                           struct err *err) {
    struct triage *triage = place->adopt->options.triage;
    struct bytes value;
    out->as = ADOPT_NEW;
    enum status status =
        triage->store->vtable->kept(triage->store, 0, SPACE_ADOPTED, bytes_of(out->name),
                                    triage_now(triage).wall, arena, &value, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    return status == STATUS_OK ? read_value(value, arena, out, err) : status;
}

/* ---- those that look the same ---- */

struct seen_count {
    struct map_node node;
    char text[ADOPT_IDENTITY_SIZE];
    uint64_t count;
};

static struct seen_count *find_count(const struct map *counts,
                                     const struct adopt_identity *identity) {
    struct bytes text = bytes_of(identity->text);
    for (struct map_node *at = map_first(counts, bytes_hash(text)); at; at = map_next(at)) {
        struct seen_count *seen = CONTAINER_OF(at, struct seen_count, node);
        if (bytes_is(text, seen->text))
            return seen;
    }
    return NULL;
}

static uint64_t count_of(const struct map *counts, const struct adopt_identity *identity) {
    const struct seen_count *seen = find_count(counts, identity);
    return seen ? seen->count : 0;
}

static void set_count(struct map *counts, const struct adopt_identity *identity, uint64_t count) {
    struct seen_count *seen = find_count(counts, identity);
    if (!seen) {
        seen = memory_new(sizeof *seen);
        snprintf(seen->text, sizeof seen->text, "%s", identity->text);
        map_insert(counts, &seen->node, bytes_hash(bytes_of(seen->text)));
    }
    seen->count = count;
    if (count > 0)
        return;
    map_remove(counts, &seen->node);
    free(seen);
}

static void free_count(struct map_node *node) {
    free(CONTAINER_OF(node, struct seen_count, node));
}

void adopt_seen_forget_counts(struct adopt_place *place) {
    map_drain(&place->seen, free_count);
    map_drain(&place->returned, free_count);
}

bool adopt_seen_is_first(struct adopt_place *place, const struct adopt_identity *identity,
                         bool redelivered) {
    uint64_t returned = count_of(&place->returned, identity);
    if (redelivered && returned > 0)
        set_count(&place->returned, identity, returned - 1);
    return !redelivered || returned > 0;
}

void adopt_seen_return(struct adopt_place *place, const struct adopt_identity *identity) {
    set_count(&place->returned, identity, count_of(&place->returned, identity) + 1);
}

enum status adopt_seen_peek(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err) {
    uint64_t number = identity->exact ? 1 : count_of(&place->seen, identity) + 1;
    if (!identity->exact)
        set_count(&place->seen, identity, number);
    name_it(place, identity, number, out);
    return look_up(place, arena, out, err);
}

/* Of those that cannot be told apart, one that comes again is taken for one that is ours. */
enum status adopt_seen_take(struct adopt_place *place, const struct adopt_identity *identity,
                            bool first, struct arena *arena, struct adopt_seen *out,
                            struct err *err) {
    uint64_t number = count_of(&place->seen, identity);
    do {
        name_it(place, identity, ++number, out);
        enum status status = look_up(place, arena, out, err);
        if (status != STATUS_OK || out->as == ADOPT_PEEKED || identity->exact)
            return status;
    } while (out->as == ADOPT_OURS);
    if (number > 1 && !first)
        out->as = ADOPT_OURS;
    else if (number > 1)
        set_count(&place->seen, identity, number - 1);
    return STATUS_OK;
}

/* ---- remembering ---- */

struct store_op adopt_seen_op(const struct adopt_seen *seen, struct wall expires,
                              struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, SEEN_TEXT_MAX);
    struct json_out json = json_out(&text);
    json_open(&json, '{');
    json_key(&json, "letter");
    json_put(&json, seen->letter);
    json_key(&json, "queue");
    json_put(&json, seen->queue);
    if (seen->as == ADOPT_PEEKED) {
        json_key(&json, "peeked");
        json_put_bool(&json, true);
    }
    json_close(&json, '}');
    struct store_op op = {.kind = STORE_KEEP,
                          .keep = {.space = SPACE_ADOPTED,
                                   .name = arena_dup(arena, bytes_of(seen->name)),
                                   .value = arena_dup(arena, buf_view(&text)),
                                   .expires = expires}};
    buf_free(&text);
    return op;
}

struct wall adopt_seen_until(struct wall now) {
    return (struct wall){now.ms + ADOPT_REMEMBERED_MS};
}

struct store_op adopt_seen_own_op(struct store *store, struct store_held *letter,
                                  struct bytes why) {
    letter->envelope.read_only = false;
    if (why.len > 0)
        letter->envelope.why = why;
    return (struct store_op){.kind = STORE_UPDATE,
                             .queue = store->vtable->queue_number(store, letter->envelope.queue),
                             .seq = letter->seq,
                             .envelope = &letter->envelope,
                             .from = 1u << STATE_PENDING_REVIEW};
}

/* ---- what did not come ---- */

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
    struct adopt_seen seen;
    snprintf(seen.name, sizeof seen.name, "%.*s", BYTES_ARG(kept->name));
    enum status status = read_value(kept->value, arena, &seen, err);
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
        adopt_seen_op(&seen, adopt_seen_until(releasing->now), arena);
    return STATUS_OK;
}

static enum status release_page(struct adopt_place *place, const struct store_kept *page,
                                size_t count, struct arena *arena, struct err *err) {
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

enum status adopt_seen_release(struct adopt_place *place, struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    char prefix[ADOPT_NAME_MAX], after[ADOPT_NAME_MAX] = "";
    enum status status = STATUS_OK;
    size_t count = RELEASE_PAGE;
    snprintf(prefix, sizeof prefix, "%.*s/", BYTES_ARG(place->entry->name));
    while (count == RELEASE_PAGE && status == STATUS_OK) {
        struct store_kept page[RELEASE_PAGE];
        struct arena arena;
        arena_init_heap(&arena, SEEN_ARENA_CHUNK);
        status = store->vtable->kept_list(store, SPACE_ADOPTED, bytes_of(prefix), bytes_of(after),
                                          false, RELEASE_PAGE, &arena, page, &count, err);
        if (status == STATUS_OK && count > 0) {
            snprintf(after, sizeof after, "%.*s", BYTES_ARG(page[count - 1].name));
            status = release_page(place, page, count, &arena, err);
        }
        arena_free(&arena);
    }
    return status;
}
