#include "config/queue/config_reply.h"

#include "config/table/config_printer.h"
#include "config/table/config_value.h"
#include "broker/sinks.h"

enum { STORE_LEAST_MS = 1000 };
#define STORE_MOST_MS ((int64_t)366 * 24 * 3600 * 1000)

static const char reply_form[] =
    "{store: 24h}, or a URL such as redis://127.0.0.1/0?key=result:{id}";

static const struct config_field reply_fields[] = {
    CONFIG_NUMBER("store", duration, struct config_reply, store_ms, STORE_LEAST_MS, STORE_MOST_MS),
};
const struct config_table config_reply_table = CONFIG_FLOW(reply_fields);

/* ${NAME} has been expanded, so the mistake does not quote the URL: it may contain a password. */
bool config_reply_url(struct config_reader *reader, const struct config_node *node,
                      const char *what, const char *form, struct bytes *out) {
    struct err err;
    struct bytes text;
    if (!config_value_string(reader, node, form, &text))
        return false;
    enum status status = sinks_check(text, &err);
    if (status == STATUS_NOT_FOUND)
        return config_reader_expected(reader, node, form);
    if (status == STATUS_NOT_YET)
        config_mistake_add(&reader->mistakes, node->at, "%s to %s", what, err.text);
    else if (status != STATUS_OK)
        config_mistake_add(&reader->mistakes, node->at, "%s: this URL is not right: %s", what,
                           err.text);
    *out = text;
    return status == STATUS_OK;
}

bool config_reply_read(struct config_reader *reader, const struct config_node *node,
                       const struct config_field *field, void *out) {
    (void)field;
    struct config_reply *reply = out;
    if (node->kind == CONFIG_SCALAR)
        return config_reply_url(reader, node, "reply", reply_form, &reply->url);
    if (node->kind != CONFIG_MAPPING || !config_tree_find(node, "store"))
        return config_reader_expected(reader, node, reply_form);
    return config_reader_mapping(reader, node, &config_reply_table, reply);
}

bool config_reply_is_given(const struct config_reply *reply) {
    return reply->store_ms > 0 || reply->url.len > 0;
}

void config_reply_put(struct config_printer *p, const struct config_field *field,
                      const void *value) {
    const struct config_reply *reply = value;
    (void)field;
    if (reply->url.len > 0)
        config_printer_text(p, reply->url);
    else
        config_printer_mapping(p, &config_reply_table, reply);
}
