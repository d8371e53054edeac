#include "broker/rabbit_url.h"

/* Debian's; also where most others have theirs. */
#define SYSTEM_CA_FILE "/etc/ssl/certs/ca-certificates.crt"

/* ---- what ---- */

static bool is_name(struct bytes text) {
    return text.len > 0 && text.len <= RABBIT_URL_NAME_MAX;
}

static bool read_queue(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->queue = text;
    return is_name(text);
}

static bool read_exchange(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->exchange = text;
    return is_name(text);
}

static bool read_routing_key(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->routing_key = text;
    return text.len <= RABBIT_URL_NAME_MAX;
}

static bool read_prefetch(struct bytes text, void *out) {
    uint64_t number;
    if (!bytes_u64(text, &number) || number == 0 || number > RABBIT_URL_PREFETCH_MAX)
        return false;
    ((struct rabbit_url *)out)->prefetch = (uint16_t)number;
    return true;
}

static bool read_ca(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->ca_file = text;
    return text.len > 0;
}

static bool read_cert(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->cert_file = text;
    return text.len > 0;
}

static bool read_key(struct bytes text, void *out) {
    ((struct rabbit_url *)out)->key_file = text;
    return text.len > 0;
}

#define QUEUE                                                                                      \
    { "queue", read_queue, "the name of a queue" }
#define FILES                                                                                      \
    {"ca", read_ca, "a PEM file"}, {"cert", read_cert, "a PEM file"}, {                            \
        "key", read_key, "a PEM file"                                                              \
    }

static const struct url_field source_fields[] = {
    QUEUE, {"prefetch", read_prefetch, "a number from 1 to 65535"}, FILES};

static const struct url_field sink_fields[] = {
    QUEUE,
    {"exchange", read_exchange, "the name of an exchange"},
    {"routing_key", read_routing_key, "a routing key of at most 255 bytes"},
    FILES};

/* ---- who and where ---- */

static enum status read_place(const struct url *url, struct rabbit_url *out, struct err *err) {
    *out = (struct rabbit_url){.tls = bytes_is(url->scheme, "amqps"),
                               .host_count = url->host_count,
                               .user = url->user.ptr ? url->user : BYTES("guest"),
                               .password = url->password.ptr ? url->password : BYTES("guest"),
                               .vhost = url->path.len ? url->path : BYTES("/"),
                               .prefetch = RABBIT_URL_PREFETCH};
    if (!out->tls && !bytes_is(url->scheme, "amqp"))
        return err_set(err, STATUS_INVALID, "it does not begin with amqp:// or amqps://");
    for (size_t i = 0; i < url->host_count; i++) {
        out->hosts[i] = url->hosts[i];
        if (!out->hosts[i].port)
            out->hosts[i].port = out->tls ? RABBIT_URL_PORT_TLS : RABBIT_URL_PORT;
    }
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

static enum status parse(struct bytes text, const struct url_field *fields, size_t field_count,
                         struct arena *arena, struct rabbit_url *out, struct err *err) {
    struct url url;
    enum status status = url_parse(text, arena, &url, err);
    if (status == STATUS_OK)
        status = read_place(&url, out, err);
    if (status == STATUS_OK)
        status = url_read(&url, fields, field_count, out, err);
    return status == STATUS_OK ? check_files(out, err) : status;
}

#define COUNT(fields) (sizeof(fields) / sizeof *(fields))

enum status rabbit_url_source(struct bytes text, struct arena *arena, struct rabbit_url *out,
                              struct err *err) {
    enum status status = parse(text, source_fields, COUNT(source_fields), arena, out, err);
    if (status == STATUS_OK && !out->queue.len)
        return err_set(err, STATUS_INVALID, "expected ?queue=NAME");
    return status;
}

enum status rabbit_url_sink(struct bytes text, struct arena *arena, struct rabbit_url *out,
                            struct err *err) {
    enum status status = parse(text, sink_fields, COUNT(sink_fields), arena, out, err);
    if (status != STATUS_OK)
        return status;
    if (!out->queue.len == !out->exchange.len || (out->queue.len && out->routing_key.ptr))
        return err_set(err, STATUS_INVALID,
                       "expected ?queue=NAME or ?exchange=NAME&routing_key=KEY");
    if (out->queue.len)
        out->routing_key = out->queue;
    return STATUS_OK;
}
