/* One hand-over as passed to a handler. */
#include <stdio.h>

#include "lib/library_worker.h"

enum { MESSAGE_ARENA = 1024 };

struct impound_message {
    const struct callback_call *call;
    struct library_line *line;
    struct arena *texts; /* copies with a NUL, until the handler returns */
};

static const char *text_of(const struct impound_message *message, struct bytes text) {
    return arena_cstr(message->texts, text);
}

const char *impound_message_queue(const struct impound_message *message) {
    return text_of(message, message->call->call->queue);
}

const char *impound_message_id(const struct impound_message *message) {
    return text_of(message, message->call->call->id);
}

const char *impound_message_key(const struct impound_message *message) {
    struct bytes key = message->call->call->key;
    return key.ptr ? text_of(message, key) : NULL;
}

const char *impound_message_content_type(const struct impound_message *message) {
    return text_of(message, message->call->call->content_type);
}

const void *impound_message_body(const struct impound_message *message, size_t *len) {
    struct bytes body = message->call->call->body;
    *len = body.len;
    return body.ptr ? body.ptr : "";
}

size_t impound_message_header_count(const struct impound_message *message) {
    return message->call->call->header_count;
}

int impound_message_header(const struct impound_message *message, size_t place,
                           struct impound_header *out) {
    const struct call *call = message->call->call;
    if (place >= call->header_count)
        return 0;
    out->name = text_of(message, call->headers[place].name);
    out->value = text_of(message, call->headers[place].value);
    return 1;
}

uint32_t impound_message_attempt(const struct impound_message *message) {
    return message->call->call->attempt;
}

uint32_t impound_message_replay(const struct impound_message *message) {
    return message->call->call->replay;
}

uint64_t impound_message_token(const struct impound_message *message) {
    return message->call->token;
}

int impound_message_cancelled(const struct impound_message *message) {
    return callback_cancelled(message->line->handler.handler, message->call->token);
}

/* A return value other than the two constants is a failure, unless the handler has set one itself.
 */
static void fail_by_return(struct impound_outcome *outcome, int returned) {
    char text[64];
    if (outcome->outcome.ending != ENDING_OK)
        return;
    snprintf(text, sizeof text, "the handler returned %d", returned);
    impound_outcome_fail(outcome, "HandlerError", text);
}

void library_message_run(void *arg, const struct callback_call *call) {
    struct library_line *line = arg;
    struct impound_outcome outcome;
    struct arena texts;
    uint64_t token = call->token;
    arena_init_heap(&texts, MESSAGE_ARENA);
    struct impound_message message = {call, line, &texts};
    impound_outcome_ok(&outcome);
    int returned = line->run(&message, &outcome, line->arg);
    arena_free(&texts);
    if (returned == IMPOUND_LATER)
        return;
    if (returned != IMPOUND_HANDLED)
        fail_by_return(&outcome, returned);
    callback_complete(line->handler.handler, token, &outcome.outcome);
}

enum impound_status impound_complete(struct impound_worker *worker, uint64_t token,
                                     const struct impound_outcome *outcome) {
    size_t place = (size_t)(token >> LIBRARY_TOKEN_QUEUE_SHIFT);
    struct handler *handler = worker->engine && place < worker->config->queue_count
                                  ? worker->lines[place].handler.handler
                                  : NULL;
    bool done = handler && callback_complete(handler, token, &outcome->outcome);
    return done ? IMPOUND_OK : IMPOUND_NOT_FOUND;
}
