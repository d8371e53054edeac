#include "config/queue/config_handler.h"

#include "config/config_headers.h"
#include "config/table/config_path.h"
#include "config/table/config_printer.h"
#include "config/queue/config_reply.h"
#include "config/table/config_value.h"
#include "handler/http/header_value.h"

enum {
    TIMEOUT_MS = 30000,
    TIMEOUT_MOST_MS = 24 * 3600 * 1000,
    WORKERS = 4,
    WORKERS_MOST = 1000,
    MESSAGES_MOST = 1000 * 1000 * 1000,
    BATCH_MOST = 1000,
};

static bool read_url(struct config_reader *reader, const struct config_node *node,
                     const struct config_field *field, void *out) {
    (void)field;
    return config_value_http(reader, node, "a URL such as http://127.0.0.1:8080/orders", out);
}

/* A command line as the list that was probably meant, for a hint: quotes in it are left to the
 * user. */
static struct bytes as_list(struct config_reader *reader, struct bytes line) {
    struct bytes list = BYTES_NONE;
    for (size_t at = 0; at < line.len;) {
        size_t length = bytes_find(bytes_cut(line, at, line.len), BYTES(" "));
        if (length > 0)
            list =
                config_reader_text(reader, "%.*s%s\"%.*s\"", BYTES_ARG(list), list.len ? ", " : "",
                                   BYTES_ARG(bytes_cut(line, at, at + length)));
        at += length + 1;
    }
    return list;
}

/* `out` is the whole handler: its arguments and their number. */
static bool read_argv(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    struct config_handler *handler = out;
    if (node->kind == CONFIG_SCALAR) {
        config_mistake_add(&reader->mistakes, node->at,
                           "exec: expected a list of words, got \"%.*s\". Write exec: [%.*s]",
                           BYTES_ARG(node->text), BYTES_ARG(as_list(reader, node->text)));
        return false;
    }
    if (node->kind != CONFIG_LIST || node->count == 0 || node->count > CONFIG_ARGV_MAX)
        return config_reader_expected(reader, node,
                                      "a list of 1 to 64 words such as [\"./price\", \"--fast\"]");
    for (const struct config_node *word = node->first; word; word = word->next)
        if (!config_value_string(reader, word, "a word", &handler->argv[handler->argc++]))
            return false;
    return true;
}

static void put_argv(struct config_printer *p, const struct config_field *field,
                     const void *value) {
    const struct config_handler *handler = value;
    (void)field;
    config_printer_texts(p, handler->argv, handler->argc);
}

static void check_placeholders(struct config_reader *reader, const struct config_node *header) {
    struct bytes unknown;
    if (header->kind == CONFIG_SCALAR && !header_value_is_known(header->text, &unknown))
        config_mistake_add(&reader->mistakes, header->at,
                           "%.*s: %.*s is neither {id} nor {key}; write {%.*s} for the text itself",
                           BYTES_ARG(header->key), BYTES_ARG(unknown), BYTES_ARG(unknown));
}

/* `out` is the whole handler. */
static bool read_headers(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct config_handler *handler = out;
    if (!config_headers_read(reader, node, &handler->headers, &handler->header_count))
        return false;
    for (const struct config_node *child = node->first; child; child = child->next)
        check_placeholders(reader, child);
    return true;
}

static void put_headers(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config_handler *handler = value;
    (void)field;
    config_printer_headers(p, handler->headers, handler->header_count);
}

/* The key alone is enough; it has no settings. */
static bool read_lease(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field, (void)out;
    if (node->kind != CONFIG_MAPPING || node->count > 0)
        return config_reader_expected(reader, node, "{}");
    return true;
}

static void put_lease(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    (void)field, (void)value;
    buf_str(p->out, "{}");
}

/* ---- which keys are printed ---- */

CONFIG_SHOWN(is_http, struct config_handler, of->kind == HANDLER_HTTP)
CONFIG_SHOWN(is_exec, struct config_handler, of->kind == HANDLER_EXEC)
CONFIG_SHOWN(is_lease, struct config_handler, of->kind == HANDLER_LEASE)
CONFIG_SHOWN(is_called, struct config_handler, of->kind != HANDLER_LEASE)
CONFIG_SHOWN(is_stream, struct config_handler, of->mode == MODE_STREAM)
CONFIG_SHOWN(has_headers, struct config_handler, of->header_count > 0)
CONFIG_SHOWN(has_batch, struct config_handler, of->batch > 1)
CONFIG_SHOWN(has_reply, struct config_handler, config_reply_is_given(&of->reply))

static const char *const mode_words[] = {
    [MODE_PROCESS] = "process", [MODE_STREAM] = "stream", NULL};

static const struct config_field handler_fields[] = {
    CONFIG_TEXT("http", read_url, struct config_handler, url, .shown = is_http),
    CONFIG_WHOLE("exec", read_argv, .put = put_argv, .shown = is_exec),
    CONFIG_WHOLE("lease", read_lease, .put = put_lease, .shown = is_lease),
    CONFIG_NUMBER("timeout", duration, struct config_handler, timeout_ms, 1, TIMEOUT_MOST_MS,
                  .usual = TIMEOUT_MS, .shown = is_called),
    CONFIG_WHOLE("headers", read_headers, .put = put_headers, .shown = has_headers),
    CONFIG_TEXT("ca", config_path_read_pem, struct config_handler, ca_file),
    CONFIG_WORD("mode", struct config_handler, mode, mode_words, .shown = is_stream),
    CONFIG_NUMBER("workers", count, struct config_handler, workers, 1, WORKERS_MOST,
                  .usual = WORKERS, .shown = is_stream),
    CONFIG_NUMBER("max_messages", large, struct config_handler, max_messages, 1, MESSAGES_MOST,
                  .optional = true),
    CONFIG_NUMBER("batch", count, struct config_handler, batch, 1, BATCH_MOST, .usual = 1,
                  .shown = has_batch),
    CONFIG_TEXT("edit", config_value_jq, struct config_handler, edit, .behind = "version"),
    CONFIG_TEXT("version", config_value_text, struct config_handler, version),
    CONFIG_OTHER("reply", config_reply_read, config_reply_put, struct config_handler, reply,
                 .shown = has_reply),
};
const struct config_table config_handler_table = CONFIG_FLOW(handler_fields);

/* The form of a handler, which determines its keys: a bit each. */
enum { FORM_HTTP = 1, FORM_EXEC = 2, FORM_STREAM = 4, FORM_LEASE = 8 };

static unsigned form_of(const struct config_handler *handler) {
    if (handler->kind == HANDLER_EXEC)
        return handler->mode == MODE_STREAM ? FORM_STREAM : FORM_EXEC;
    return handler->kind == HANDLER_LEASE ? FORM_LEASE : FORM_HTTP;
}

/* Refuses keys that this form of handler does not have. */
static void refuse_keys(struct config_reader *reader, const struct config_node *node,
                        const struct config_handler *handler) {
    static const struct {
        const char *key;
        unsigned forms;
        const char *why;
    } keys[] = {
        {"headers", FORM_HTTP, "only an http handler has it"},
        {"ca", FORM_HTTP, "only an http handler has it"},
        {"mode", FORM_EXEC | FORM_STREAM, "only an exec handler has it"},
        {"workers", FORM_STREAM, "only an exec handler with mode: stream has it"},
        {"max_messages", FORM_STREAM, "only an exec handler with mode: stream has it"},
        {"batch", FORM_HTTP | FORM_STREAM,
         "only an http handler, or an exec handler with mode: stream, has it"},
        {"timeout", ~(unsigned)FORM_LEASE, "a worker that leases says for how long itself"},
        {"edit", ~(unsigned)FORM_LEASE, "a worker that leases gets the body as it is"},
        {"version", ~(unsigned)FORM_LEASE, "a worker that leases says it with its failure"},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct config_node *key = config_tree_find(node, keys[i].key);
        if (key && !(keys[i].forms & form_of(handler)))
            config_mistake_add(&reader->mistakes, key->key_at, "%s: %s", keys[i].key, keys[i].why);
    }
    for (size_t i = 0; handler->batch > 1 && i < handler->header_count; i++)
        if (header_value_varies(handler->headers[i].value))
            config_mistake_add(&reader->mistakes, config_tree_find(node, "headers")->key_at,
                               "headers: the messages of a batch have no {id} and {key} in common");
    const struct config_node *reply = config_tree_find(node, "reply");
    if (reply && handler->batch > 1)
        config_mistake_add(&reader->mistakes, reply->key_at,
                           "reply: the messages of a batch have no answers of their own");
}

static bool check_kind(struct config_reader *reader, const struct config_node *node,
                       struct config_handler *handler) {
    static const char *const kinds[] = {
        [HANDLER_HTTP] = "http", [HANDLER_EXEC] = "exec", [HANDLER_LEASE] = "lease"};
    const struct config_node *found = NULL;
    for (int kind = HANDLER_HTTP; kind <= HANDLER_LEASE; kind++) {
        const struct config_node *key = config_tree_find(node, kinds[kind]);
        if (key && found) {
            config_mistake_add(&reader->mistakes, key->key_at, "a handler is %.*s or %s, not both",
                               BYTES_ARG(found->key), kinds[kind]);
            return false;
        }
        if (key) {
            found = key;
            handler->kind = (enum handler_class)kind;
        }
    }
    if (!found) {
        config_mistake_add(&reader->mistakes, node->at, "%.*s: expected " CONFIG_HANDLER_FORM,
                           BYTES_ARG(node->key));
        return false;
    }
    refuse_keys(reader, node, handler);
    return true;
}

bool config_handler_word(const struct config_node *node, enum handler_class *out) {
    static const struct {
        const char *word;
        enum handler_class kind;
    } words[] = {{"lease", HANDLER_LEASE}, {"callback", HANDLER_CALLBACK}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (node->kind == CONFIG_SCALAR && bytes_is(node->text, words[i].word)) {
            *out = words[i].kind;
            return true;
        }
    }
    return false;
}

bool config_handler_read(struct config_reader *reader, const struct config_node *node,
                         const struct config_field *field, void *out) {
    (void)field;
    struct config_handler *handler = out;
    config_reader_defaults(&config_handler_table, handler);
    if (config_handler_word(node, &handler->kind))
        return true;
    if (node->kind != CONFIG_MAPPING)
        return config_reader_expected(reader, node, CONFIG_HANDLER_FORM);
    config_reader_mapping(reader, node, &config_handler_table, handler);
    return check_kind(reader, node, handler);
}

/* Printed as one word if it has no settings. */
void config_handler_put(struct config_printer *p, const struct config_field *field,
                        const void *value) {
    const struct config_handler *handler = value;
    (void)field;
    if (handler->kind == HANDLER_CALLBACK)
        buf_str(p->out, "callback");
    else if (handler->kind == HANDLER_LEASE && !config_reply_is_given(&handler->reply))
        buf_str(p->out, "lease");
    else
        config_printer_mapping(p, &config_handler_table, handler);
}
