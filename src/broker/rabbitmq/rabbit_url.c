#include "broker/rabbitmq/rabbit_url.h"

/* Debian's path, which most other systems have too. */
#define SYSTEM_CA_FILE "/etc/ssl/certs/ca-certificates.crt"

/* ---- what ---- */

static bool read_name(struct bytes text, void *at) {
    return url_text(text, at) && text.len <= RABBIT_URL_NAME_MAX;
}

static bool read_routing_key(struct bytes text, void *at) {
    *(struct bytes *)at = text;
    return text.len <= RABBIT_URL_NAME_MAX;
}

static bool read_prefetch(struct bytes text, void *at) {
    uint64_t number;
    if (!bytes_u64(text, &number) || number == 0 || number > RABBIT_URL_PREFETCH_MAX)
        return false;
    *(uint16_t *)at = (uint16_t)number;
    return true;
}

static bool read_origin(struct bytes text, void *at) {
    *(bool *)at = bytes_is(text, "queue");
    return bytes_is(text, "queue") || bytes_is(text, "exchange");
}

#define FIELD(name, read, member, expected)                                                        \
    URL_FIELD(name, read, struct rabbit_url, member, expected)
#define QUEUE FIELD("queue", read_name, queue, "the name of a queue")
#define FILES                                                                                      \
    FIELD("ca", url_text, ca_file, "a PEM file"),                                                  \
        FIELD("cert", url_text, cert_file, "a PEM file"),                                          \
        FIELD("key", url_text, key_file, "a PEM file")

static const struct url_field source_fields[] = {
    QUEUE,
    FIELD("prefetch", read_prefetch, prefetch, "a number from 1 to 65535"),
    FIELD("id", url_id_path, id_path, URL_ID_EXPECTED),
    FIELD("origin", read_origin, origin_queue, "exchange or queue"),
    FILES,
};

static const struct url_field sink_fields[] = {
    QUEUE,
    FIELD("exchange", read_name, exchange, "the name of an exchange"),
    FIELD("routing_key", read_routing_key, routing_key, "a routing key of at most 255 bytes"),
    FILES,
};

/* ---- who and where ---- */

static enum status read_place(const struct url *url, struct arena *arena, void *to,
                              struct err *err) {
    struct rabbit_url *out = to;
    (void)arena;
    *out = (struct rabbit_url){.tls = bytes_is(url->scheme, "amqps"),
                               .host_count = url->host_count,
                               .user = url->user.ptr ? url->user : BYTES("guest"),
                               .password = url->password.ptr ? url->password : BYTES("guest"),
                               .vhost = url->path.len ? url->path : BYTES("/"),
                               .prefetch = RABBIT_URL_PREFETCH};
    if (!out->tls && !bytes_is(url->scheme, "amqp"))
        return err_set(err, STATUS_INVALID, "it does not begin with amqp:// or amqps://");
    url_hosts(url, out->tls ? RABBIT_URL_PORT_TLS : RABBIT_URL_PORT, out->hosts);
    return STATUS_OK;
}

static enum status check_files(struct rabbit_url *out, struct err *err) {
    if (!out->tls && (out->ca_file.len || out->cert_file.len || out->key_file.len))
        return err_set(err, STATUS_INVALID, "ca, cert, key: only amqps:// has certificates");
    if (!out->cert_file.len != !out->key_file.len)
        return err_set(err, STATUS_INVALID, "cert and key go together");
    if (out->tls && !out->ca_file.len)
        out->ca_file = BYTES(SYSTEM_CA_FILE);
    return STATUS_OK;
}

static enum status check_source(void *to, struct err *err) {
    struct rabbit_url *out = to;
    enum status status = check_files(out, err);
    if (status == STATUS_OK && !out->queue.len)
        return err_set(err, STATUS_INVALID, "expected ?queue=NAME");
    return status;
}

static enum status check_sink(void *to, struct err *err) {
    struct rabbit_url *out = to;
    enum status status = check_files(out, err);
    if (status != STATUS_OK)
        return status;
    if (!out->queue.len == !out->exchange.len || (out->queue.len && out->routing_key.ptr))
        return err_set(err, STATUS_INVALID,
                       "expected ?queue=NAME or ?exchange=NAME&routing_key=KEY");
    if (out->queue.len)
        out->routing_key = out->queue;
    return STATUS_OK;
}

enum status rabbit_url_source(struct bytes text, struct arena *arena, struct rabbit_url *out,
                              struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_source);
    return url_take(text, &form, arena, out, err);
}

enum status rabbit_url_sink(struct bytes text, struct arena *arena, struct rabbit_url *out,
                            struct err *err) {
    static const struct url_form form = URL_FORM(read_place, sink_fields, check_sink);
    return url_take(text, &form, arena, out, err);
}
