#include "app/config_reply.h"

#include "app/config_value.h"
#include "broker/redis_url.h"

enum { STORE_LEAST_MS = 1000 };
#define STORE_MOST_MS ((int64_t)366 * 24 * 3600 * 1000)

static const char form[] = "{store: 24h}, or a URL such as redis://127.0.0.1/0?key=result:{id}";

static const struct config_field reply_fields[] = {
    CONFIG_NUMBER("store", config_value_duration, struct config_reply, store_ms, STORE_LEAST_MS,
                  STORE_MOST_MS),
};
const struct config_table config_reply_table = CONFIG_TABLE(reply_fields);

static bool is_redis(struct bytes scheme) {
#ifdef IMPOUND_REDIS
    return bytes_is(scheme, "redis");
#else
    (void)scheme;
    return false;
#endif
}

/* ${NAME} was filled in, so the mistake does not quote the URL: it may hold a password. */
static bool read_url(struct config_reader *reader, const struct config_node *node,
                     struct bytes *out) {
    struct redis_url url;
    struct err err;
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    size_t scheme = bytes_find(text, BYTES("://"));
    if (scheme == text.len)
        return config_reader_expected(reader, node, form);
    if (!is_redis(bytes_cut(text, 0, scheme)))
        return config_reader_not_yet(
            reader, node->at,
            config_reader_text(reader, "reply to %.*s://", BYTES_ARG(bytes_cut(text, 0, scheme))));
    if (redis_url_sink(text, reader->arena, &url, &err) != STATUS_OK) {
        config_mistake_add(&reader->mistakes, node->at, "reply: this Redis URL is not right: %s",
                           err.text);
        return false;
    }
    *out = text;
    return true;
}

bool config_reply_read(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field;
    struct config_reply *reply = out;
    if (node->kind == CONFIG_SCALAR)
        return read_url(reader, node, &reply->url);
    if (node->kind != CONFIG_MAPPING || !config_tree_find(node, "store"))
        return config_reader_expected(reader, node, form);
    return config_reader_mapping(reader, node, &config_reply_table, reply);
}
