#include "broker/redis/redis_url.h"

#include "base/instant.h"

/* ---- what ---- */

static bool read_key(struct bytes text, void *at) {
    return url_text(text, at) && bytes_find(text, BYTES(REDIS_URL_ID)) < text.len;
}

static bool read_ttl(struct bytes text, void *at) {
    int64_t *ms = at;
    return duration_parse(text, ms) && *ms > 0;
}

static bool read_idle(struct bytes text, void *at) {
    int64_t *ms = at;
    return duration_parse(text, ms) && *ms >= REDIS_URL_IDLE_LEAST_MS;
}

#define FIELD(name, read, member, expected)                                                        \
    URL_FIELD(name, read, struct redis_url, member, expected)
#define LIST   FIELD("list", url_text, list, "the name of a list")
#define STREAM FIELD("stream", url_text, stream, "the name of a stream")
#define CA     FIELD("ca", url_text, ca_file, "a PEM file")

static const struct url_field source_fields[] = {
    LIST,
    STREAM,
    FIELD("zset", url_text, zset, "the name of a sorted set"),
    FIELD("asynq", url_text, asynq, "the name of a queue of asynq"),
    FIELD("group", url_text, group, "the name of a consumer group"),
    FIELD("id", url_id_path, id_path, URL_ID_EXPECTED),
    FIELD("idle", read_idle, idle_ms, "a duration of at least 1s, such as 30s"),
    CA,
};

static const struct url_field sink_fields[] = {
    FIELD("key", read_key, key, "a key with " REDIS_URL_ID " in it, such as result:" REDIS_URL_ID),
    FIELD("ttl", read_ttl, ttl_ms, "a duration such as 24h"),
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

static enum status read_place(const struct url *url, struct arena *arena, void *to,
                              struct err *err) {
    struct redis_url *out = to;
    (void)arena;
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
        return err_set(err, STATUS_INVALID, "expected the number of a database after the /");
    return STATUS_OK;
}

static enum status check_ca(const struct redis_url *out, struct err *err) {
    if (out->ca_file.len && !out->tls)
        return err_set(err, STATUS_INVALID, "ca: only rediss:// has certificates");
    return STATUS_OK;
}

static enum status check_peek(void *to, struct err *err) {
    struct redis_url *out = to;
    if (check_ca(out, err) != STATUS_OK)
        return STATUS_INVALID;
    if ((out->list.len > 0) + (out->stream.len > 0) + (out->zset.len > 0) + (out->asynq.len > 0) !=
        1)
        return err_set(err, STATUS_INVALID,
                       "expected ?list=NAME, ?stream=NAME&group=NAME, ?zset=NAME or ?asynq=QUEUE");
    if (out->group.len && !out->stream.len)
        return err_set(err, STATUS_INVALID, "group: only a stream has one");
    if (out->id_path.ptr && !out->list.len && !out->zset.len)
        return err_set(err, STATUS_INVALID, "id: only of a list or a sorted set");
    if (!out->id_path.ptr)
        out->id_path = BYTES(".id");
    return STATUS_OK;
}

static enum status check_source(void *to, struct err *err) {
    const struct redis_url *out = to;
    enum status status = check_peek(to, err);
    if (status == STATUS_OK && out->stream.len && !out->group.len)
        return err_set(err, STATUS_INVALID,
                       "a stream and a group go together: "
                       "?stream=NAME&group=NAME");
    return status;
}

static enum status check_sink(void *to, struct err *err) {
    const struct redis_url *out = to;
    if (check_ca(out, err) != STATUS_OK)
        return STATUS_INVALID;
    if ((out->key.len > 0) + (out->list.len > 0) + (out->stream.len > 0) != 1)
        return err_set(err, STATUS_INVALID,
                       "expected ?key=result:" REDIS_URL_ID ", ?list=NAME or ?stream=NAME");
    if (out->ttl_ms && !out->key.len)
        return err_set(err, STATUS_INVALID, "ttl: only a key has one");
    return STATUS_OK;
}

enum status redis_url_source(struct bytes text, struct arena *arena, struct redis_url *out,
                             struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_source);
    return url_take(text, &form, arena, out, err);
}

enum status redis_url_peek(struct bytes text, struct arena *arena, struct redis_url *out,
                           struct err *err) {
    static const struct url_form form = URL_FORM(read_place, source_fields, check_peek);
    return url_take(text, &form, arena, out, err);
}

enum status redis_url_check_peek(struct bytes text, struct err *err) {
    struct redis_url url;
    return redis_url_peek(text, NULL, &url, err);
}

enum status redis_url_sink(struct bytes text, struct arena *arena, struct redis_url *out,
                           struct err *err) {
    static const struct url_form form = URL_FORM(read_place, sink_fields, check_sink);
    return url_take(text, &form, arena, out, err);
}
