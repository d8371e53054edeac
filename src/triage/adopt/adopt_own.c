/* adopt_own: recognises a JetStream advisory about a message that one of our own queues terminated.
 * That message has its letter, which was durable before the message was terminated at the server,
 * so the advisory makes no second one.
 *
 * The message is found by its coordinates, in the queue whose source is its stream. An advisory of
 * another consumer of the same stream is about another death. */
#include "base/json/json_path.h"
#include "triage/adopt/adopt_state.h"

enum { OWN_ID_MAX = 300 };

static struct bytes text_at(struct json json, const char *path, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_path_get(json, bytes_of(path), &value) || !json_string(value, arena, &text))
        return BYTES_NONE;
    return text;
}

static struct bytes number_at(struct json json, const char *path) {
    struct json value;
    uint64_t number;
    if (!json_path_get(json, bytes_of(path), &value) || !bytes_u64(value.text, &number))
        return BYTES_NONE;
    return value.text;
}

/* A stream that was deleted and created again counts from the start, so the creation times must
 * agree, too. A message that is gone from the stream has no known time. */
static bool is_same(const struct envelope *letter, struct json source, const struct envelope *came,
                    struct arena *arena) {
    struct json own, gone;
    if (json_parse(letter->source, &own, NULL) != STATUS_OK)
        return false;
    return bytes_eq(text_at(own, ".stream", arena), text_at(source, ".origin.stream", arena)) &&
           bytes_eq(number_at(own, ".sequence"), number_at(source, ".origin.sequence")) &&
           bytes_eq(text_at(own, ".consumer", arena),
                    text_at(source, ".advisory.consumer", arena)) &&
           (json_path_get(source, BYTES(".origin.gone"), &gone) ||
            letter->created_at.ms == came->created_at.ms);
}

static enum status look(struct adopt_place *place, struct bytes queue, struct json source,
                        const struct envelope *came, bool *own, struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    struct message *letter = NULL;
    struct arena arena;
    char memory[OWN_ID_MAX];
    struct buf id;
    arena_init_heap(&arena, OWN_ID_MAX);
    buf_init_fixed(&id, memory, sizeof memory);
    buf_bytes(&id, text_at(source, ".origin.stream", &arena));
    buf_char(&id, ':');
    buf_bytes(&id, number_at(source, ".origin.sequence"));
    enum status status = letters_get(store->letters, queue, buf_view(&id), &letter, err);
    *own = status == STATUS_OK && is_same(&letter->envelope, source, came, &arena);
    message_free(letter);
    arena_free(&arena);
    return status == STATUS_NOT_FOUND ? STATUS_OK : status;
}

enum status adopt_own(struct adopt_place *place, const struct message *held, bool *own,
                      struct err *err) {
    const struct adopt_options *options = &place->adopt->options;
    struct json source, member;
    enum status status = STATUS_OK;
    *own = false;
    if (json_parse(held->envelope.source, &source, NULL) != STATUS_OK ||
        !json_get(source, "advisory", &member) || !json_get(source, "origin", &member))
        return STATUS_OK;
    for (size_t i = 0; i < options->home_count && status == STATUS_OK && !*own; i++)
        if (adopt_home_is(&options->homes[i], place->entry->server, member))
            status = look(place, options->homes[i].queue, source, &held->envelope, own, err);
    return status;
}
