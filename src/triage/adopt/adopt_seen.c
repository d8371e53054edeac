/* adopt_seen: the records of seen messages in the store (SPACE_ADOPTED), by entry and identity. The
 * nth message with the same identity has its own name:
 *
 *   <entry>/<hex>/<n>  →  {"letter":"0190…","queue":"orders","peeked":true}
 *
 * For a message with coordinates, <hex> is a hash of the coordinates and the content
 * (adopt_identity.h). Earlier versions recorded a hash of the coordinates alone; such records are
 * still found.
 *
 * A peeked message is recorded for as long as its letter is read-only, a taken one for
 * ADOPT_REMEMBERED_MS. A taken message that has neither coordinates nor a delivery name, and was
 * not peeked, is not recorded: nothing distinguishes it from messages with the same content. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "triage/adopt/adopt_state.h"

enum { SEEN_TEXT_MAX = 8 * 1024 };

/* ---- one record ---- */

static void print_name(const struct adopt_place *place, const char *text, uint64_t number,
                       char name[ADOPT_NAME_MAX]) {
    assert(number > 0);
    snprintf(name, ADOPT_NAME_MAX, "%.*s/%s/%llu", BYTES_ARG(place->entry->name), text,
             (unsigned long long)number);
}

enum status adopt_seen_read(struct bytes value, struct arena *arena, struct adopt_seen *out,
                            struct err *err) {
    struct json json, member;
    bool peeked = false;
    if (json_parse(value, &json, err) != STATUS_OK)
        return STATUS_CORRUPT;
    if (!json_get(json, "letter", &member) || !json_string(member, arena, &out->letter) ||
        !json_get(json, "queue", &member) || !json_string(member, arena, &out->queue))
        return err_set(err, STATUS_CORRUPT, "adoption record \"%s\" is damaged", out->name);
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
    enum status status = letters_note(triage->store->letters, 0, SPACE_ADOPTED, bytes_of(out->name),
                                      triage_now(triage).wall, arena, &value, err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    return status == STATUS_OK ? adopt_seen_read(value, arena, out, err) : status;
}

/* ---- messages with the same identity ---- */

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
}

/* At most one message has this identity. A record of an earlier version (`printless`) may be about
 * another message at the same coordinates. */
static enum status find_exact(struct adopt_place *place, const struct adopt_identity *identity,
                              struct arena *arena, struct adopt_seen *out, struct err *err) {
    print_name(place, identity->text, 1, out->name);
    enum status status = look_up(place, arena, out, err);
    if (status != STATUS_OK || out->as != ADOPT_NEW)
        return status;
    print_name(place, identity->place, 1, out->name);
    status = look_up(place, arena, out, err);
    if (out->as != ADOPT_NEW) {
        out->printless = true;
        memcpy(out->also, out->name, sizeof out->also);
    }
    print_name(place, identity->text, 1, out->name);
    return status;
}

/* Skips records of taken messages: these are no longer at the broker, so the one peeked now is
 * another. */
enum status adopt_seen_peek(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err) {
    assert(place->entry->mode == ADOPT_PEEK);
    enum status status;
    *out = (struct adopt_seen){.as = ADOPT_NEW};
    if (identity->exact)
        return find_exact(place, identity, arena, out, err);
    uint64_t number = count_of(&place->seen, identity);
    do {
        print_name(place, identity->text, ++number, out->name);
        status = look_up(place, arena, out, err);
    } while (status == STATUS_OK && out->as == ADOPT_OURS);
    set_count(&place->seen, identity, number);
    return status;
}

/* The first record of this identity that was peeked and not taken; otherwise the name for the next.
 */
static enum status scan(struct adopt_place *place, const struct adopt_identity *identity,
                        struct arena *arena, struct adopt_seen *out, struct err *err) {
    uint64_t number = count_of(&place->seen, identity);
    for (;;) {
        print_name(place, identity->text, ++number, out->name);
        enum status status = look_up(place, arena, out, err);
        if (status != STATUS_OK || out->as != ADOPT_OURS)
            return status;
        set_count(&place->seen, identity, number);
    }
}

/* A hash matches peeked letters, each once, and no others: a message with the content of one that
 * was taken before is another message (SEMANTICS §14). */
static enum status take_plain(struct adopt_place *place, const struct adopt_identity *identity,
                              struct arena *arena, struct adopt_seen *out, struct err *err) {
    enum status status = scan(place, identity, arena, out, err);
    if (status == STATUS_OK && out->as == ADOPT_NEW)
        out->name[0] = '\0';
    return status;
}

/* The message has a delivery name at its broker and is recorded under it; its content only decides
 * whether it was peeked before. */
static enum status take_named(struct adopt_place *place, const struct adopt_identity *identity,
                              struct arena *arena, struct adopt_seen *out, struct err *err) {
    print_name(place, identity->delivery, 1, out->name);
    enum status status = look_up(place, arena, out, err);
    if (status != STATUS_OK || out->as != ADOPT_NEW)
        return status;
    status = scan(place, identity, arena, out, err);
    if (status != STATUS_OK)
        return status;
    char *name = out->as == ADOPT_PEEKED ? out->also : out->name;
    print_name(place, identity->delivery, 1, name);
    return STATUS_OK;
}

enum status adopt_seen_take(struct adopt_place *place, const struct adopt_identity *identity,
                            struct arena *arena, struct adopt_seen *out, struct err *err) {
    assert(place->entry->mode == ADOPT_TAKE);
    *out = (struct adopt_seen){.as = ADOPT_NEW};
    if (identity->delivery[0])
        return take_named(place, identity, arena, out, err);
    if (identity->exact)
        return find_exact(place, identity, arena, out, err);
    return take_plain(place, identity, arena, out, err);
}

/* ---- ops ---- */

struct store_op adopt_seen_op(const struct adopt_seen *seen, const char *name, struct wall expires,
                              struct arena *arena) {
    assert(seen->as != ADOPT_NEW && name[0] != '\0');
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
                                   .name = arena_dup(arena, bytes_of(name)),
                                   .value = arena_dup(arena, buf_view(&text)),
                                   .expires = expires}};
    buf_free(&text);
    return op;
}

struct wall adopt_seen_until(struct wall now) {
    return (struct wall){now.ms + ADOPT_REMEMBERED_MS};
}

struct store_op adopt_seen_own_op(struct store *store, struct message *letter, struct bytes why) {
    assert(letter->envelope.read_only && letter->seq != 0);
    letter->envelope.read_only = false;
    if (why.len > 0)
        letter->envelope.why = why;
    return (struct store_op){.kind = STORE_UPDATE,
                             .queue = store->vtable->queue_number(store, letter->envelope.queue),
                             .seq = letter->seq,
                             .envelope = &letter->envelope,
                             .from = 1u << letter->envelope.state};
}
