#include "broker/kafka_url.h"

#include "base/ascii.h"
#include "base/instant.h"

#define COUNT(table) (sizeof(table) / sizeof *(table))

/* ---- parameters ---- */

static bool read_ca(struct bytes text, void *out) {
    ((struct kafka_url *)out)->ca_file = text;
    return text.len > 0;
}

static bool read_mechanism(struct bytes text, void *out) {
    static const char *const mechanisms[] = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"};
    ((struct kafka_url *)out)->mechanism = text;
    for (size_t i = 0; i < COUNT(mechanisms); i++)
        if (bytes_is(text, mechanisms[i]))
            return true;
    return false;
}

static bool read_group(struct bytes text, void *out) {
    ((struct kafka_url *)out)->group = text;
    return text.len > 0;
}

static bool read_session(struct bytes text, void *out) {
    struct kafka_url *url = out;
    return duration_parse(text, &url->session_ms) &&
           url->session_ms >= KAFKA_URL_SESSION_LEAST_MS &&
           url->session_ms <= KAFKA_URL_SESSION_MOST_MS;
}

#define CA                                                                                         \
    { "ca", read_ca, "a PEM file" }
#define SASL                                                                                       \
    { "sasl", read_mechanism, "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512" }

static const struct url_field source_fields[] = {
    {"group", read_group, "the name of a consumer group"},
    {"session", read_session, "a duration from 1s to 5m"},
    CA,
    SASL,
};

static const struct url_field sink_fields[] = {CA, SASL};

/* ---- who and where ---- */

static struct bytes join_hosts(const struct url *url, struct arena *arena) {
    struct buf servers;
    buf_init_heap(&servers, URL_TEXT_MAX * 2);
    for (size_t i = 0; i < url->host_count; i++) {
        struct bytes name = url->hosts[i].name;
        bool ipv6 = bytes_find(name, BYTES(":")) < name.len;
        buf_printf(&servers, "%s%s%.*s%s:%u", i ? "," : "", ipv6 ? "[" : "", BYTES_ARG(name),
                   ipv6 ? "]" : "", url->hosts[i].port ? url->hosts[i].port : KAFKA_URL_PORT);
    }
    struct bytes joined = arena_dup(arena, buf_view(&servers));
    buf_free(&servers);
    return joined;
}

static bool is_topic(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!ascii_is_digit(c) && !ascii_is_letter(c) && c != '.' && c != '_' && c != '-')
            return false;
    }
    return text.len > 0 && text.len <= KAFKA_URL_TOPIC_MAX && !bytes_is(text, ".") &&
           !bytes_is(text, "..");
}

static enum status read_place(const struct url *url, struct arena *arena, struct kafka_url *out,
                              struct err *err) {
    *out = (struct kafka_url){.tls = bytes_is(url->scheme, "kafkas"),
                              .servers = join_hosts(url, arena),
                              .topic = url->path,
                              .user = url->user,
                              .password = url->password,
                              .mechanism = BYTES("PLAIN"),
                              .session_ms = KAFKA_URL_SESSION_MS};
    if (!out->tls && !bytes_is(url->scheme, "kafka"))
        return err_set(err, STATUS_INVALID, "it does not begin with kafka:// or kafkas://");
    if (!is_topic(out->topic))
        return err_set(err, STATUS_INVALID,
                       "expected a topic behind the /: letters, digits, '.', '_', '-', at most %d",
                       KAFKA_URL_TOPIC_MAX);
    if (!out->user.ptr != !out->password.ptr)
        return err_set(err, STATUS_INVALID, "a user and a password go together: USER:PASSWORD@");
    return STATUS_OK;
}

static enum status parse(struct bytes text, const struct url_field *fields, size_t field_count,
                         struct arena *arena, struct kafka_url *out, struct err *err) {
    struct url url;
    enum status status = url_parse(text, arena, &url, err);
    if (status == STATUS_OK)
        status = read_place(&url, arena, out, err);
    if (status == STATUS_OK)
        status = url_read(&url, fields, field_count, out, err);
    if (status == STATUS_OK && out->ca_file.len && !out->tls)
        status = err_set(err, STATUS_INVALID, "ca: only kafkas:// has certificates");
    return status;
}

enum status kafka_url_source(struct bytes text, struct arena *arena, struct kafka_url *out,
                             struct err *err) {
    enum status status = parse(text, source_fields, COUNT(source_fields), arena, out, err);
    if (status == STATUS_OK && !out->group.len)
        status = err_set(err, STATUS_INVALID, "it has no group, such as ?group=pricing");
    return status;
}

enum status kafka_url_sink(struct bytes text, struct arena *arena, struct kafka_url *out,
                           struct err *err) {
    return parse(text, sink_fields, COUNT(sink_fields), arena, out, err);
}
