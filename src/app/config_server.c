#include "app/config_server.h"

#include "app/config_address.h"
#include "app/config_path.h"
#include "app/config_telemetry.h"
#include "app/config_value.h"

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
};

#define BODY_MEMORY_MOST (INT64_C(1) << 40)

const char *const config_payloads_words[] = {
    [PAYLOADS_SHOWN] = "shown", [PAYLOADS_HIDDEN] = "hidden", NULL};

static const struct bytes store_scheme = BYTES("sqlite:");
static const struct bytes default_store = BYTES("impound.db");

void config_server_init(struct config *config) {
    config->listen_host = BYTES("127.0.0.1");
    config->listen_port = LISTEN_PORT;
    config->max_body = MAX_BODY;
    config->body_memory = BODY_MEMORY;
    config->drain_ms = DRAIN_MS;
    config->jq_timeout_ms = JQ_TIMEOUT_MS;
    config->log_level = LOG_INFO;
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

static const struct config_field server_fields[] = {
    CONFIG_WHOLE("listen", read_listen),
    CONFIG_VALUE("auth", read_auth, struct config, auth_none),
    CONFIG_NUMBER("max_body", config_value_size, struct config, max_body, 1, MAX_BODY_MOST),
    CONFIG_NUMBER("body_memory", config_value_size, struct config, body_memory, BODY_MEMORY_LEAST,
                  BODY_MEMORY_MOST),
    CONFIG_NUMBER("drain", config_value_duration, struct config, drain_ms, 0, DRAIN_MOST_MS),
    CONFIG_NUMBER("jq_timeout", config_value_duration, struct config, jq_timeout_ms, 1,
                  JQ_TIMEOUT_MOST_MS),
    CONFIG_WORD("payloads", struct config, payloads, config_payloads_words),
    CONFIG_WORD("log", struct config, log, log_format_words),
    CONFIG_WORD("log_level", struct config, log_level, log_level_words),
    CONFIG_VALUE("telemetry", config_telemetry_read, struct config, telemetry),
    CONFIG_NOT_YET("tokens"),
    CONFIG_NOT_YET("roles"),
    CONFIG_NOT_YET("encryption"),
    CONFIG_NOT_YET("redaction"),
};
const struct config_table config_server_table = CONFIG_TABLE(server_fields);

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
