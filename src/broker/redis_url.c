#include "broker/redis_url.h"

#include "base/instant.h"

/* ---- what ---- */

static bool read_key(struct bytes text, void *out) {
    ((struct redis_url *)out)->key = text;
    return bytes_find(text, BYTES(REDIS_URL_ID)) < text.len;
}

static bool read_ttl(struct bytes text, void *out) {
    struct redis_url *url = out;
    return duration_parse(text, &url->ttl_ms) && url->ttl_ms > 0;
}

static bool read_list(struct bytes text, void *out) {
    ((struct redis_url *)out)->list = text;
    return text.len > 0;
}

static bool read_stream(struct bytes text, void *out) {
    ((struct redis_url *)out)->stream = text;
    return text.len > 0;
}

static bool read_group(struct bytes text, void *out) {
    ((struct redis_url *)out)->group = text;
    return text.len > 0;
}

static bool read_idle(struct bytes text, void *out) {
    struct redis_url *url = out;
    return duration_parse(text, &url->idle_ms) && url->idle_ms >= REDIS_URL_IDLE_LEAST_MS;
}

static bool read_ca(struct bytes text, void *out) {
    ((struct redis_url *)out)->ca_file = text;
    return text.len > 0;
}

#define LIST                                                                                       \
    { "list", read_list, "the name of a list" }
#define STREAM                                                                                     \
    { "stream", read_stream, "the name of a stream" }
#define CA                                                                                         \
    { "ca", read_ca, "a PEM file" }

static const struct url_field source_fields[] = {
    LIST,
    STREAM,
    {"group", read_group, "the name of a consumer group"},
    {"idle", read_idle, "a duration of at least 1s, such as 30s"},
    CA,
};

static const struct url_field sink_fields[] = {
    {"key", read_key, "a key with " REDIS_URL_ID " in it, such as result:" REDIS_URL_ID},
    {"ttl", read_ttl, "a duration such as 24h"},
    LIST,
    STREAM,
    CA,
};

/* ---- who and where ---- */

static bool read_database(struct bytes text, struct redis_url *out) {
    uint64_t number = 0;
    if (text.len && (!bytes_u64(text, &number) || number > REDIS_URL_DATABASE_MAX))
        return false;
    out->database = (uint32_t)number;
    return true;
}

static enum status read_place(const struct url *url, struct redis_url *out, struct err *err) {
    *out = (struct redis_url){.tls = bytes_is(url->scheme, "rediss"),
                              .host = url->hosts[0].name,
                              .port = url->hosts[0].port ? url->hosts[0].port : REDIS_URL_PORT,
                              .user = url->user,
                              .password = url->password,
                              .idle_ms = REDIS_URL_IDLE_MS};
    if (!out->tls && !bytes_is(url->scheme, "redis"))
        return err_set(err, STATUS_INVALID, "it does not begin with redis:// or rediss://");
    if (url->host_count > 1)
        return err_set(err, STATUS_INVALID, "expected one host");
    if (!read_database(url->path, out))
        return err_set(err, STATUS_INVALID, "expected the number of a database behind the /");
    return STATUS_OK;
}

static enum status parse(struct bytes text, const struct url_field *fields, size_t field_count,
                         struct arena *arena, struct redis_url *out, struct err *err) {
    struct url url;
    enum status status = url_parse(text, arena, &url, err);
    if (status == STATUS_OK)
        status = read_place(&url, out, err);
    if (status == STATUS_OK)
        status = url_read(&url, fields, field_count, out, err);
    if (status == STATUS_OK && out->ca_file.len && !out->tls)
        status = err_set(err, STATUS_INVALID, "ca: only rediss:// has certificates");
    return status;
}

#define COUNT(fields) (sizeof(fields) / sizeof *(fields))

enum status redis_url_source(struct bytes text, struct arena *arena, struct redis_url *out,
                             struct err *err) {
    enum status status = parse(text, source_fields, COUNT(source_fields), arena, out, err);
    if (status != STATUS_OK)
        return status;
    if (!out->list.len == !out->stream.len)
        return err_set(err, STATUS_INVALID, "expected ?list=NAME or ?stream=NAME&group=NAME");
    if (!out->stream.len != !out->group.len)
        return err_set(err, STATUS_INVALID,
                       "a stream and a group go together: "
                       "?stream=NAME&group=NAME");
    return STATUS_OK;
}

enum status redis_url_sink(struct bytes text, struct arena *arena, struct redis_url *out,
                           struct err *err) {
    enum status status = parse(text, sink_fields, COUNT(sink_fields), arena, out, err);
    if (status != STATUS_OK)
        return status;
    if ((out->key.len > 0) + (out->list.len > 0) + (out->stream.len > 0) != 1)
        return err_set(err, STATUS_INVALID,
                       "expected ?key=result:" REDIS_URL_ID ", ?list=NAME or ?stream=NAME");
    if (out->ttl_ms && !out->key.len)
        return err_set(err, STATUS_INVALID, "ttl: only a key has one");
    return STATUS_OK;
}
