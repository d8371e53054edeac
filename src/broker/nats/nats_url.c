#include "broker/nats/nats_url.h"

/* ---- what ---- */

/* Names are tokens of subjects, so that they have no dots and no wildcards. */
bool nats_url_is_name(struct bytes text) {
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.ptr[i] <= ' ' || text.ptr[i] == '.' || text.ptr[i] == '*' ||
            text.ptr[i] == '>' || text.ptr[i] == 0x7f)
            return false;
    return text.len > 0 && text.len <= NATS_URL_NAME_MAX;
}

static bool is_subject(struct bytes text) {
    for (struct bytes rest = text; rest.len <= text.len;) {
        size_t end = bytes_find(rest, BYTES("."));
        if (!nats_url_is_name(bytes_cut(rest, 0, end)))
            return false;
        if (end == rest.len)
            break;
        rest = bytes_cut(rest, end + 1, rest.len);
    }
    return text.len <= NATS_URL_SUBJECT_MAX;
}

static bool read_name(struct bytes text, void *at) {
    return url_text(text, at) && nats_url_is_name(text);
}

static bool read_subject(struct bytes text, void *at) {
    return url_text(text, at) && is_subject(text);
}

#define FIELD(name, read, member, expected) URL_FIELD(name, read, struct nats_url, member, expected)
#define SHARED                                                                                     \
    FIELD("domain", read_name, domain, "a JetStream domain"),                                      \
        FIELD("creds", url_text, creds_file, "a credentials file"),                                \
        FIELD("ca", url_text, ca_file, "a PEM file"),                                              \
        FIELD("cert", url_text, cert_file, "a PEM file"),                                          \
        FIELD("key", url_text, key_file, "a PEM file")

static const struct url_field source_fields[] = {
    FIELD("stream", read_name, stream, "the name of a stream"),
    FIELD("consumer", read_name, consumer, "the name of a durable pull consumer"),
    SHARED,
};

static const struct url_field sink_fields[] = {
    FIELD("subject", read_subject, subject, "a subject without wildcards"),
    SHARED,
};

/* ---- who and where ---- */

static enum status read_place(const struct url *url, struct arena *arena, void *to,
                              struct err *err) {
    struct nats_url *out = to;
    (void)arena;
    *out = (struct nats_url){.tls = bytes_is(url->scheme, "tls"),
                             .host_count = url->host_count,
                             .user = url->user,
                             .password = url->password};
    if (!out->tls && !bytes_is(url->scheme, "nats"))
        return err_set(err, STATUS_INVALID, "it does not begin with nats:// or tls://");
    if (url->path.len)
        return err_set(err, STATUS_INVALID, "expected nothing between the host and the ?");
    url_hosts(url, NATS_URL_PORT, out->hosts);
    return STATUS_OK;
}

static enum status check_files(const struct nats_url *url, struct err *err) {
    if (!url->tls && (url->ca_file.len || url->cert_file.len || url->key_file.len))
        return err_set(err, STATUS_INVALID, "ca, cert, key: only tls:// has certificates");
    if (!url->cert_file.len != !url->key_file.len)
        return err_set(err, STATUS_INVALID, "cert and key go together");
    return STATUS_OK;
}

static enum status check_source(void *to, struct err *err) {
    const struct nats_url *url = to;
    enum status status = check_files(url, err);
    if (status == STATUS_OK && (!url->stream.len || !url->consumer.len))
        return err_set(err, STATUS_INVALID, "expected ?stream=NAME&consumer=NAME");
    return status;
}

static enum status check_peek(void *to, struct err *err) {
    const struct nats_url *url = to;
    enum status status = check_files(url, err);
    if (status == STATUS_OK && !url->stream.len)
        return err_set(err, STATUS_INVALID, "expected ?stream=NAME");
    return status;
}

static enum status check_sink(void *to, struct err *err) {
    const struct nats_url *url = to;
    enum status status = check_files(url, err);
    if (status == STATUS_OK && !url->subject.len)
        return err_set(err, STATUS_INVALID, "expected ?subject=NAME");
    return status;
}

enum status nats_url_source(struct bytes text, struct arena *arena, struct nats_url *out,
                            struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_source);
    return url_take(text, &form, arena, out, err);
}

enum status nats_url_peek(struct bytes text, struct arena *arena, struct nats_url *out,
                          struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_peek);
    return url_take(text, &form, arena, out, err);
}

enum status nats_url_check_peek(struct bytes text, struct err *err) {
    struct nats_url url;
    return nats_url_peek(text, NULL, &url, err);
}

enum status nats_url_sink(struct bytes text, struct arena *arena, struct nats_url *out,
                          struct err *err) {
    static const struct url_form form = URL_FORM(read_place, sink_fields, check_sink);
    return url_take(text, &form, arena, out, err);
}
