#include "config/config_server.h"

#include "config/config_address.h"
#include "config/table/config_path.h"
#include "config/table/config_printer.h"
#include "config/config_telemetry.h"
#include "config/table/config_value.h"

enum {
    LISTEN_PORT = 7070,
    AUTH_SHOWN_MAX = 64,
    MAX_BODY = 4 << 20,
    MAX_BODY_MOST = 1 << 30,
    BODY_MEMORY = 256 << 20,
    BODY_MEMORY_LEAST = 1 << 20,
    DRAIN_MS = 10 * 1000,
    DRAIN_MOST_MS = 3600 * 1000,
    JQ_TIMEOUT_MS = 1000,
    JQ_TIMEOUT_MOST_MS = 60 * 1000,
    STORE_SHOWN_MAX = 4 << 20,
};

#define BODY_MEMORY_MOST (INT64_C(1) << 40)

static const char *const payloads_words[] = {
    [PAYLOADS_SHOWN] = "shown", [PAYLOADS_HIDDEN] = "hidden", NULL};

static const struct bytes store_scheme = BYTES("sqlite:");
static const struct bytes default_store = BYTES("impound.db");

void config_server_init(struct config *config) {
    config->listen_host = BYTES("127.0.0.1");
    config->listen_port = LISTEN_PORT;
    config->store_path = config_path_from(config, default_store);
}

/* `out` is the whole configuration. */
static bool read_listen(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    static const char form[] = "host:port such as 127.0.0.1:7070 or [::1]:7070";
    (void)field;
    struct config *config = out;
    struct bytes text;
    struct config_address address;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (!config_address_parse(text, &address) || !address.has_port)
        return config_reader_expected(reader, node, form);
    config->listen_host = arena_dup(reader->arena, address.host);
    config->listen_port = address.port;
    return true;
}

static void put_listen(struct config_printer *p, const struct config_field *field,
                       const void *value) {
    const struct config *config = value;
    bool ipv6 = bytes_find(config->listen_host, BYTES(":")) < config->listen_host.len;
    (void)field;
    buf_printf(p->out, "\"%s%.*s%s:%u\"", ipv6 ? "[" : "", BYTES_ARG(config->listen_host),
               ipv6 ? "]" : "", config->listen_port);
}

static bool read_auth(struct config_reader *reader, const struct config_node *node,
                      const struct config_field *field, void *out) {
    (void)field;
    struct bytes text;
    if (node->kind == CONFIG_SCALAR && !bytes_is(node->text, "none"))
        return config_reader_not_yet(
            reader, node->at,
            config_reader_text(reader, "auth \"%.*s\"",
                               BYTES_ARG(bytes_clip(node->text, AUTH_SHOWN_MAX))));
    if (!config_value_string(reader, node, "none", &text))
        return false;
    *(bool *)out = true;
    return true;
}

static void put_auth(struct config_printer *p, const struct config_field *field,
                     const void *value) {
    (void)field, (void)value;
    buf_str(p->out, "none");
}

static const struct config_field server_fields[] = {
    CONFIG_WHOLE("listen", read_listen, .put = put_listen, .reload = CONFIG_RESTART),
    CONFIG_OTHER("auth", read_auth, put_auth, struct config, auth_none, .optional = true,
                 .reload = CONFIG_LIVE),
    CONFIG_NUMBER("max_body", size, struct config, max_body, 1, MAX_BODY_MOST, .usual = MAX_BODY,
                  .reload = CONFIG_RESTART),
    CONFIG_NUMBER("body_memory", size, struct config, body_memory, BODY_MEMORY_LEAST,
                  BODY_MEMORY_MOST, .usual = BODY_MEMORY, .reload = CONFIG_RESTART),
    CONFIG_NUMBER("drain", duration, struct config, drain_ms, 0, DRAIN_MOST_MS, .usual = DRAIN_MS,
                  .reload = CONFIG_LIVE),
    CONFIG_NUMBER("jq_timeout", duration, struct config, jq_timeout_ms, 1, JQ_TIMEOUT_MOST_MS,
                  .usual = JQ_TIMEOUT_MS, .reload = CONFIG_RESTART),
    CONFIG_WORD("payloads", struct config, payloads, payloads_words, .reload = CONFIG_RESTART),
    CONFIG_WORD("log", struct config, log, log_format_words, .reload = CONFIG_LIVE),
    CONFIG_WORD("log_level", struct config, log_level, log_level_words, .usual = LOG_INFO,
                .reload = CONFIG_LIVE),
    CONFIG_MAPPED("telemetry", config_telemetry_read, config_telemetry_table, struct config,
                  telemetry, .off = config_telemetry_is_off, .reload = CONFIG_RESTART),
    CONFIG_NOT_YET("tokens"),
    CONFIG_NOT_YET("roles"),
    CONFIG_NOT_YET("encryption"),
    CONFIG_NOT_YET("redaction"),
};
const struct config_table config_server_table = CONFIG_BLOCK(server_fields);

bool config_server_read(struct config_reader *reader, const struct config_node *node,
                        const struct config_field *field, void *out) {
    (void)field;
    struct config *config = out;
    if (!config_reader_named(reader, node, &config_server_table, config, BYTES("server")))
        return false;
    const struct config_node *listen = config_tree_find(node, "listen");
    if (listen && !config->auth_none && !config_address_is_loopback(config->listen_host))
        config_mistake_add(&reader->mistakes, listen->at,
                           "listen: \"%.*s\" can be reached from other machines, and there are no "
                           "tokens in this version. Write auth: none beside it to allow that",
                           BYTES_ARG(config->listen_host));
    return true;
}

bool config_server_read_store(struct config_reader *reader, const struct config_node *node,
                              const struct config_field *field, void *out) {
    static const char form[] = "sqlite:PATH such as sqlite:impound.db";
    (void)field;
    struct config *config = out;
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    if (bytes_starts(text, BYTES("postgresql:")) || bytes_starts(text, BYTES("postgres:")))
        return config_reader_not_yet(reader, node->at, BYTES("a postgresql store"));
    struct bytes path = bytes_cut(text, store_scheme.len, text.len);
    if (!bytes_starts(text, store_scheme) || path.len == 0)
        return config_reader_expected(reader, node, form);
    config->store_path = config_path_from(config, path);
    return true;
}

void config_server_put_store(struct config_printer *p, const struct config_field *field,
                             const void *value) {
    const struct config *config = value;
    struct buf store;
    (void)field;
    buf_init_heap(&store, STORE_SHOWN_MAX);
    buf_printf(&store, "%.*s%.*s", BYTES_ARG(store_scheme), BYTES_ARG(config->store_path));
    config_printer_text(p, buf_view(&store));
    buf_free(&store);
}
