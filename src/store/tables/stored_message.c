#include "store/tables/stored_message.h"

#include "store/tables/mark.h"

static struct bytes copy(struct arena *arena, struct bytes text) {
    return text.ptr ? arena_dup(arena, text) : BYTES_NONE;
}

enum status stored_message_new(const struct stored_message_parts *parts, struct message **out,
                               struct err *err) {
    struct message *held = message_new();
    struct arena *arena = &held->arena;
    held->seq = parts->seq;
    if (!message_set_body(held, parts->body)) {
        message_free(held);
        return err_set(err, STATUS_BUSY, "there is no memory for a body of %zu bytes",
                       parts->body.len);
    }
    message_count_body(held, parts->memory);
    enum status status =
        envelope_restore(arena_dup(arena, parts->envelope), arena, &held->envelope, err);
    if (status == STATUS_OK)
        status = mark_read(copy(arena, parts->mark), arena, &held->envelope, err);
    if (status != STATUS_OK) {
        message_free(held);
        return status;
    }
    if (parts->state)
        held->envelope.state = *parts->state;
    *out = held;
    return STATUS_OK;
}
