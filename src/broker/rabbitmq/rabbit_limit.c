#include "broker/rabbitmq/rabbit_limit.h"

#include "base/arena.h"
#include "broker/rabbitmq/rabbit_table.h"

enum {
    ASKING_CHANNEL = 2, /* each answer closes it */
    ROUNDS_MAX = 12,    /* so many arguments may be compared before the limit is */
    VERSION_WITH_DEFAULT = 4,
};

/* ---- words ---- */

static struct bytes behind_last(struct bytes text, struct bytes what) {
    struct bytes rest = BYTES_NONE;
    for (size_t at; (at = bytes_find(text, what)) < text.len;)
        text = rest = bytes_cut(text, at + what.len, text.len);
    return rest;
}

/* Cuts the next text in quotes off the front of *text. */
static struct bytes quoted(struct bytes *text) {
    size_t open = bytes_find(*text, BYTES("'"));
    struct bytes rest = bytes_cut(*text, open + 1, text->len);
    size_t close = bytes_find(rest, BYTES("'"));
    *text = bytes_cut(rest, close + 1, rest.len);
    return bytes_cut(rest, 0, close);
}

bool rabbit_limit_read(struct bytes words, struct rabbit_limit_argument *out) {
    struct bytes begin = BYTES("inequivalent arg ");
    size_t at = bytes_find(words, begin);
    struct bytes current = behind_last(words, BYTES("but current is "));
    if (at == words.len || current.len == 0)
        return false;
    struct bytes rest = bytes_cut(words, at + begin.len, words.len);
    *out = (struct rabbit_limit_argument){.name = quoted(&rest)};
    if (!bytes_starts(current, BYTES("none"))) {
        out->value = quoted(&current);
        out->type = quoted(&current);
    }
    return out->name.len > 0;
}

/* ---- asking ---- */

/* Arguments that differ before the limit are found one after the other, and then sent as the queue
 * has them. */
struct question {
    amqp_table_entry_t entries[3 + ROUNDS_MAX];
    int count;
    struct arena arena;
};

static void add_text(struct question *question, struct bytes name, struct bytes value) {
    question->entries[question->count++] = (amqp_table_entry_t){
        .key = rabbit_bytes(name),
        .value = {.kind = AMQP_FIELD_KIND_UTF8, .value.bytes = rabbit_bytes(value)}};
}

/* Numbers are equal whatever their width. */
static bool add(struct question *question, const struct rabbit_limit_argument *argument) {
    amqp_table_entry_t *entry = &question->entries[question->count];
    uint64_t number;
    if (bytes_is(argument->type, "longstr")) {
        add_text(question, argument->name, argument->value);
        return true;
    }
    bool is_bool = bytes_is(argument->type, "bool");
    if (!is_bool && (!bytes_u64(argument->value, &number) || number > INT64_MAX))
        return false;
    entry->key = rabbit_bytes(argument->name);
    if (is_bool)
        entry->value = (amqp_field_value_t){.kind = AMQP_FIELD_KIND_BOOLEAN,
                                            .value.boolean = bytes_is(argument->value, "true")};
    else
        entry->value =
            (amqp_field_value_t){.kind = AMQP_FIELD_KIND_I64, .value.i64 = (int64_t)number};
    question->count++;
    return true;
}

static void begin(struct question *question) {
    arena_init_heap(&question->arena, 1024);
    question->count = 0;
    add_text(question, BYTES("x-queue-type"), BYTES("quorum"));
    add_text(question, BYTES("x-delivery-limit"), BYTES("?"));
    add_text(question, BYTES("x-max-priority"), BYTES("?")); /* a quorum queue has none */
}

/* Arguments that we ask with, and texts that are no arguments: after those nothing is compared. */
static bool is_ours(struct bytes name) {
    return bytes_is(name, "x-delivery-limit") || bytes_is(name, "x-queue-type") ||
           bytes_is(name, "x-max-priority") || !bytes_starts(name, BYTES("x-"));
}

/* The text with which the server closed the channel, in the arena; empty: it did not, or for
 * another reason. */
static bool ask(struct rabbit_connection *connection, struct bytes queue, struct question *question,
                struct bytes *words, struct err *err) {
    *words = BYTES_NONE;
    amqp_channel_open(connection->state, ASKING_CHANNEL);
    if (!rabbit_connection_asked(connection, amqp_get_rpc_reply(connection->state),
                                 "open a channel", err))
        return false;
    amqp_queue_declare(connection->state, ASKING_CHANNEL, rabbit_bytes(queue), 0, 1, 0, 0,
                       (amqp_table_t){question->count, question->entries});
    amqp_rpc_reply_t reply = amqp_get_rpc_reply(connection->state);
    if (reply.reply_type != AMQP_RESPONSE_SERVER_EXCEPTION ||
        reply.reply.id != AMQP_CHANNEL_CLOSE_METHOD)
        return rabbit_connection_asked(connection, reply, "ask for the delivery limit", err);
    const amqp_channel_close_t *close = reply.reply.decoded;
    if (close->reply_code == AMQP_PRECONDITION_FAILED)
        *words = arena_dup(&question->arena, rabbit_text(close->reply_text));
    amqp_channel_close_ok_t close_ok = {0};
    int status = amqp_send_method(connection->state, ASKING_CHANNEL, AMQP_CHANNEL_CLOSE_OK_METHOD,
                                  &close_ok);
    return rabbit_connection_sent(connection, status, "ask for the delivery limit", err);
}

static int64_t limit_without_argument(struct rabbit_connection *connection) {
    const amqp_table_t *server = amqp_get_server_properties(connection->state);
    const amqp_field_value_t *version = server ? rabbit_table_find(server, "version") : NULL;
    uint64_t major = 0;
    if (version && version->kind == AMQP_FIELD_KIND_UTF8) {
        struct bytes text = rabbit_text(version->value.bytes);
        bytes_u64(bytes_cut(text, 0, bytes_find(text, BYTES("."))), &major);
    }
    return major >= VERSION_WITH_DEFAULT ? RABBIT_LIMIT_DEFAULT : RABBIT_LIMIT_NONE;
}

static int64_t limit_of(struct rabbit_connection *connection, struct bytes value) {
    uint64_t number;
    if (!value.ptr)
        return limit_without_argument(connection);
    return bytes_u64(value, &number) && number <= INT64_MAX ? (int64_t)number : RABBIT_LIMIT_NONE;
}

/* Only a server that compares arguments answers; where the type differs it says so first. */
static enum rabbit_type type_of(const struct rabbit_limit_argument *argument) {
    return bytes_is(argument->name, "x-queue-type") && bytes_is(argument->value, "stream")
               ? RABBIT_TYPE_STREAM
               : RABBIT_TYPE_QUEUE;
}

bool rabbit_limit_ask(struct rabbit_connection *connection, struct bytes queue,
                      struct rabbit_limit *out, struct err *err) {
    struct question question;
    bool well = true;
    begin(&question);
    *out = (struct rabbit_limit){.deliveries = RABBIT_LIMIT_NONE};
    for (size_t round = 0; round < ROUNDS_MAX; round++) {
        struct rabbit_limit_argument argument;
        struct bytes words;
        well = ask(connection, queue, &question, &words, err);
        if (!well || !rabbit_limit_read(words, &argument))
            break;
        out->type = type_of(&argument);
        if (bytes_is(argument.name, "x-delivery-limit"))
            out->deliveries = limit_of(connection, argument.value);
        if (is_ours(argument.name) || !add(&question, &argument))
            break;
    }
    arena_free(&question.arena);
    return well;
}

bool rabbit_limit_no_stream(const struct rabbit_limit *limit, struct bytes queue, struct err *err) {
    enum { NAME_SHOWN_MAX = 100 };
    if (limit->type != RABBIT_TYPE_STREAM)
        return true;
    err_set(
        err, STATUS_INVALID,
        "queue \"%.*s\" is a stream, which impound does not consume: it keeps no offset, so that "
        "messages which arrive while it is down would be skipped. Bind a quorum or classic "
        "queue to the same exchange, and name that queue",
        BYTES_ARG(bytes_clip(queue, NAME_SHOWN_MAX)));
    return false;
}
