#include "app/wiring/origins.h"

#include <stdio.h>

#include "broker/sources.h"
#include "broker/registry.h"
#include "core/pointer.h"

enum { TEXTS_CHUNK = 1024, KIND_MAX = 32, NAME_SHOWN_MAX = 255 };

static struct bytes text_at(struct json object, const char *name, struct arena *arena) {
    struct json value;
    struct bytes text = BYTES_NONE;
    if (json_get(object, name, &value))
        json_string(value, arena, &text);
    return text;
}

/* ---- description of a source ---- */

/* The first of the broker kind's coordinates that the source has; NULL: none. */
static const struct broker_coordinate *find_place(const struct broker_kind *kind,
                                                  struct json source, struct arena *arena,
                                                  struct bytes *name) {
    for (const struct broker_coordinate *at = kind->coordinates; at->member; at++) {
        *name = at->place ? text_at(source, at->member, arena) : BYTES_NONE;
        if (name->len > 0)
            return at;
    }
    return NULL;
}

/* False: the source has no coordinates. For an unknown broker, the names that all brokers have for
 * coordinates are tried. */
static bool describe(struct json source, struct bytes kind, struct arena *arena,
                     char words[REPLAY_ORIGIN_SIZE]) {
    const struct broker_kind *known = broker_kind_find(registry_kinds, kind);
    const struct broker_coordinate *place = NULL;
    struct bytes name;
    if (known)
        place = find_place(known, source, arena, &name);
    for (size_t i = 0; !known && !place && registry_kinds[i]; i++)
        place = find_place(registry_kinds[i], source, arena, &name);
    snprintf(words, REPLAY_ORIGIN_SIZE, "%.*s", BYTES_ARG(bytes_clip(kind, KIND_MAX)));
    if (place)
        snprintf(words, REPLAY_ORIGIN_SIZE, "%.*s %s %.*s", BYTES_ARG(bytes_clip(kind, KIND_MAX)),
                 place->member, BYTES_ARG(bytes_clip(name, NAME_SHOWN_MAX)));
    return place != NULL;
}

/* ---- the URL ---- */

static bool leads_to(struct bytes url, struct bytes kind) {
    const char *its = sources_broker(url);
    return its && bytes_is(kind, its);
}

static struct bytes adopted_from(const struct config *config, const struct envelope *letter,
                                 struct bytes kind, struct arena *arena) {
    struct json context, adopted;
    if (json_parse(letter->context, &context, NULL) != STATUS_OK ||
        !json_get(context, "adopted", &adopted))
        return BYTES_NONE;
    struct bytes from = text_at(adopted, "from", arena);
    for (size_t i = 0; i < config->adopt_count; i++) {
        const struct adopt_entry *entry = &config->adopts[i].entry;
        if (bytes_eq(entry->name, from) && leads_to(entry->source, kind))
            return entry->source;
    }
    return BYTES_NONE;
}

static struct bytes way_back(const struct config *config, const struct envelope *letter,
                             struct bytes kind, struct arena *arena) {
    struct bytes url = adopted_from(config, letter, kind, arena);
    const struct config_queue *queue = config_find_queue(config, letter->queue);
    if (url.len == 0 && queue && leads_to(queue->source, kind))
        url = queue->source;
    return url;
}

static enum status find(const struct config *config, const struct envelope *letter,
                        struct arena *arena, struct bytes *url, char words[REPLAY_ORIGIN_SIZE],
                        struct err *err) {
    struct json source;
    struct bytes kind = BYTES_NONE;
    if (pointer_origin(letter->source, &source))
        kind = text_at(source, "kind", arena);
    if (kind.len == 0)
        return err_set(err, STATUS_INVALID, "to: nothing is known of where letter %.*s came from",
                       BYTES_ARG(letter->letter_id));
    if (bytes_is(kind, SOURCES_BUILTIN))
        return err_set(err, STATUS_INVALID,
                       "to: letter %.*s came from the built-in queue, which is its origin: without "
                       "`to` it goes through that",
                       BYTES_ARG(letter->letter_id));
    if (!describe(source, kind, arena, words))
        return err_set(err, STATUS_INVALID,
                       "to: nothing says which place of %s letter %.*s came from", words,
                       BYTES_ARG(letter->letter_id));
    if (pointer_is_gone(letter->source))
        return err_set(
            err, STATUS_INVALID,
            "to: the message of letter %.*s was gone from %.100s before it could be read, "
            "so that nothing can go back; discard the letter, or leave it out",
            BYTES_ARG(letter->letter_id), words);
    *url = way_back(config, letter, kind, arena);
    if (url->len > 0)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID,
                   "to: letter %.*s came from %.100s, and neither the source of queue \"%.*s\" nor "
                   "an adopt entry leads there",
                   BYTES_ARG(letter->letter_id), words, BYTES_ARG(bytes_clip(letter->queue, 100)));
}

enum status origins_find(const struct config *config, const struct envelope *letter,
                         struct bytes *url, char words[REPLAY_ORIGIN_SIZE], struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, TEXTS_CHUNK);
    enum status status = find(config, letter, &arena, url, words, err);
    arena_free(&arena);
    return status;
}
