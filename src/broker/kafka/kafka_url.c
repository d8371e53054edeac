#include "broker/kafka/kafka_url.h"

#include "base/text/ascii.h"
#include "base/instant.h"

/* ---- parameters ---- */

static bool read_mechanism(struct bytes text, void *at) {
    static const char *const mechanisms[] = {"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"};
    *(struct bytes *)at = text;
    for (size_t i = 0; i < sizeof mechanisms / sizeof *mechanisms; i++)
        if (bytes_is(text, mechanisms[i]))
            return true;
    return false;
}

static bool read_session(struct bytes text, void *at) {
    int64_t *ms = at;
    return duration_parse(text, ms) && *ms >= KAFKA_URL_SESSION_LEAST_MS &&
           *ms <= KAFKA_URL_SESSION_MOST_MS;
}

#define FIELD(name, read, member, expected)                                                        \
    URL_FIELD(name, read, struct kafka_url, member, expected)
#define CA   FIELD("ca", url_text, ca_file, "a PEM file")
#define SASL FIELD("sasl", read_mechanism, mechanism, "PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")

static const struct url_field source_fields[] = {
    FIELD("group", url_text, group, "the name of a consumer group"),
    FIELD("session", read_session, session_ms, "a duration from 1s to 5m"),
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

static enum status read_place(const struct url *url, struct arena *arena, void *to,
                              struct err *err) {
    struct kafka_url *out = to;
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
                       "expected a topic after the /: letters, digits, '.', '_', '-', at most %d",
                       KAFKA_URL_TOPIC_MAX);
    if (!out->user.ptr != !out->password.ptr)
        return err_set(err, STATUS_INVALID, "a user and a password go together: USER:PASSWORD@");
    return STATUS_OK;
}

static enum status check_ca(void *to, struct err *err) {
    const struct kafka_url *out = to;
    if (out->ca_file.len && !out->tls)
        return err_set(err, STATUS_INVALID, "ca: only kafkas:// has certificates");
    return STATUS_OK;
}

static enum status check_source(void *to, struct err *err) {
    const struct kafka_url *out = to;
    enum status status = check_ca(to, err);
    if (status == STATUS_OK && !out->group.len)
        return err_set(err, STATUS_INVALID, "it names no group, such as ?group=pricing");
    return status;
}

enum status kafka_url_source(struct bytes text, struct arena *arena, struct kafka_url *out,
                             struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_source);
    return url_take(text, &form, arena, out, err);
}

enum status kafka_url_peek(struct bytes text, struct arena *arena, struct kafka_url *out,
                           struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_ca);
    return url_take(text, &form, arena, out, err);
}

enum status kafka_url_check_peek(struct bytes text, struct err *err) {
    struct kafka_url url;
    return kafka_url_peek(text, NULL, &url, err);
}

enum status kafka_url_sink(struct bytes text, struct arena *arena, struct kafka_url *out,
                           struct err *err) {
    static const struct url_form form = URL_FORM(read_place, sink_fields, check_ca);
    return url_take(text, &form, arena, out, err);
}
