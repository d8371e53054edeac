#include "broker/nats_url.h"

#include <stddef.h>

/* ---- what ---- */

/* Names stand between the dots of subjects, so that they have none, nor wildcards. */
static bool is_name(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '.' || text.ptr[i] == '*' ||
            text.ptr[i] == '>' || text.ptr[i] == 0x7f)
            return false;
    return text.len > 0 && text.len <= NATS_URL_NAME_MAX;
}

static bool is_subject(struct bytes text) {
    for (struct bytes rest = text; rest.len <= text.len;) {
        size_t end = bytes_find(rest, BYTES("."));
        if (!is_name(bytes_cut(rest, 0, end)))
            return false;
        if (end == rest.len)
            break;
        rest = bytes_cut(rest, end + 1, rest.len);
    }
    return text.len <= NATS_URL_SUBJECT_MAX;
}

static bool read_stream(struct bytes text, void *out) {
    ((struct nats_url *)out)->stream = text;
    return is_name(text);
}

static bool read_consumer(struct bytes text, void *out) {
    ((struct nats_url *)out)->consumer = text;
    return is_name(text);
}

static bool read_domain(struct bytes text, void *out) {
    ((struct nats_url *)out)->domain = text;
    return is_name(text);
}

static bool read_subject(struct bytes text, void *out) {
    ((struct nats_url *)out)->subject = text;
    return is_subject(text);
}

static bool read_creds(struct bytes text, void *out) {
    ((struct nats_url *)out)->creds_file = text;
    return text.len > 0;
}

static bool read_ca(struct bytes text, void *out) {
    ((struct nats_url *)out)->ca_file = text;
    return text.len > 0;
}

static bool read_cert(struct bytes text, void *out) {
    ((struct nats_url *)out)->cert_file = text;
    return text.len > 0;
}

static bool read_key(struct bytes text, void *out) {
    ((struct nats_url *)out)->key_file = text;
    return text.len > 0;
}

#define SHARED                                                                                     \
    {"domain", read_domain, "a JetStream domain"}, {"creds", read_creds, "a credentials file"},    \
        {"ca", read_ca, "a PEM file"}, {"cert", read_cert, "a PEM file"}, {                        \
        "key", read_key, "a PEM file"                                                              \
    }

static const struct url_field source_fields[] = {
    {"stream", read_stream, "the name of a stream"},
    {"consumer", read_consumer, "the name of a durable pull consumer"},
    SHARED};

static const struct url_field sink_fields[] = {
    {"subject", read_subject, "a subject without wildcards"}, SHARED};

/* ---- who and where ---- */

static enum status read_place(const struct url *url, struct nats_url *out, struct err *err) {
    *out = (struct nats_url){.tls = bytes_is(url->scheme, "tls"),
                             .host_count = url->host_count,
                             .user = url->user,
                             .password = url->password};
    if (!out->tls && !bytes_is(url->scheme, "nats"))
        return err_set(err, STATUS_INVALID, "it does not begin with nats:// or tls://");
    if (url->path.len)
        return err_set(err, STATUS_INVALID, "expected nothing between the host and the ?");
    for (size_t i = 0; i < url->host_count; i++) {
        out->hosts[i] = url->hosts[i];
        if (!out->hosts[i].port)
            out->hosts[i].port = NATS_URL_PORT;
    }
    return STATUS_OK;
}

static enum status check_files(const struct nats_url *url, struct err *err) {
    if (!url->tls && (url->ca_file.len || url->cert_file.len || url->key_file.len))
        return err_set(err, STATUS_INVALID, "ca, cert, key: only tls:// has certificates");
    if (!url->cert_file.len != !url->key_file.len)
        return err_set(err, STATUS_INVALID, "cert and key go together");
    return STATUS_OK;
}

static enum status parse(struct bytes text, const struct url_field *fields, size_t field_count,
                         struct arena *arena, struct nats_url *out, struct err *err) {
    struct url url;
    enum status status = url_parse(text, arena, &url, err);
    if (status == STATUS_OK)
        status = read_place(&url, out, err);
    if (status == STATUS_OK)
        status = url_read(&url, fields, field_count, out, err);
    return status == STATUS_OK ? check_files(out, err) : status;
}

#define COUNT(fields) (sizeof(fields) / sizeof *(fields))

enum status nats_url_source(struct bytes text, struct arena *arena, struct nats_url *out,
                            struct err *err) {
    enum status status = parse(text, source_fields, COUNT(source_fields), arena, out, err);
    if (status == STATUS_OK && (!out->stream.len || !out->consumer.len))
        return err_set(err, STATUS_INVALID, "expected ?stream=NAME&consumer=NAME");
    return status;
}

enum status nats_url_sink(struct bytes text, struct arena *arena, struct nats_url *out,
                          struct err *err) {
    enum status status = parse(text, sink_fields, COUNT(sink_fields), arena, out, err);
    if (status == STATUS_OK && !out->subject.len)
        return err_set(err, STATUS_INVALID, "expected ?subject=NAME");
    return status;
}
