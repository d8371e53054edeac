/* A batch is one pipeline: all of its commands are sent, then their answers are read. An item that
 * failed may have been set all the same; setting it again changes nothing.
 *
 * A server that cannot be reached is not asked again before `hold_until`; what comes meanwhile
 * fails at once with the text of the last try. */
#include "broker/redis/redis_sink.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/common/sink_thread.h"
#include "broker/redis/redis_connection.h"
#include "broker/redis/redis_entry.h"

enum {
    REDIS_HOLD_FIRST_MS = 100, /* after a connection that failed; doubles … */
    REDIS_HOLD_LAST_MS = 1000, /* … up to this */
    REDIS_KEY_MAX = 64 * 1024, /* bytes of a key */
    REDIS_TEXTS_CHUNK = 4096,
};

struct redis_sink {
    struct sink_thread thread;
    struct redis_url url;
    struct redis_connection *connection; /* NULL: not connected */
    struct mono hold_until;
    int64_t hold_ms;
    struct err trouble; /* of the last connection */
};

static struct redis_sink *redis_of(struct sink *sink) {
    return CONTAINER_OF(sink, struct redis_sink, thread.sink);
}

/* ---- the connection ---- */

static void disconnect(struct redis_sink *redis) {
    redis_connection_free(redis->connection);
    redis->connection = NULL;
}

static void hold(struct redis_sink *redis, struct mono now) {
    redis->hold_until = mono_after(now, redis->hold_ms);
    redis->hold_ms =
        redis->hold_ms * 2 < REDIS_HOLD_LAST_MS ? redis->hold_ms * 2 : REDIS_HOLD_LAST_MS;
}

static bool connect_if_needed(struct redis_sink *redis) {
    struct mono now = clock_now(redis->thread.clock).mono;
    if (redis->connection && redis_connection_ended(redis->connection))
        disconnect(redis);
    if (redis->connection)
        return true;
    if (now.ms < redis->hold_until.ms)
        return false;
    redis->connection = redis_connection_open(&redis->url, redis->thread.clock, &redis->trouble);
    if (redis->connection)
        redis->hold_ms = REDIS_HOLD_FIRST_MS;
    else
        hold(redis, now);
    return redis->connection != NULL;
}

/* ---- publishing ---- */

static void put_key(struct buf *out, struct bytes rest, struct bytes id) {
    struct bytes mark = BYTES(REDIS_URL_ID);
    for (size_t at; (at = bytes_find(rest, mark)) < rest.len;) {
        buf_bytes(out, bytes_cut(rest, 0, at));
        buf_bytes(out, id);
        rest = bytes_cut(rest, at + mark.len, rest.len);
    }
    buf_bytes(out, rest);
}

/* SET key value [PX ttl] */
static void add_set(struct redis_sink *redis, const struct sink_item *item) {
    struct buf key;
    char ttl[32];
    buf_init_heap(&key, REDIS_KEY_MAX);
    put_key(&key, redis->url.key, item->id);
    snprintf(ttl, sizeof ttl, "%lld", (long long)redis->url.ttl_ms);
    struct bytes words[] = {BYTES("SET"), buf_view(&key), item->body, BYTES("PX"), bytes_of(ttl)};
    redis_connection_add(redis->connection, words, redis->url.ttl_ms ? 5 : 3);
    buf_free(&key);
}

/* False: the item has no destination and was answered. */
static bool add_item(struct redis_sink *redis, struct sink_item *item) {
    struct redis_entry entry = {.count = 0};
    struct arena arena;
    struct err err;
    enum status status = STATUS_OK;
    arena_init_heap(&arena, REDIS_TEXTS_CHUNK);
    if (item->origin.len)
        status = redis_entry_return(&entry, item, &arena, &err);
    else if (redis->url.key.len)
        add_set(redis, item);
    else if (redis->url.list.len)
        redis_entry_push(&entry, redis->url.list, item, &arena);
    else
        redis_entry_append(&entry, redis->url.stream, item, &arena);
    if (entry.count > 0)
        redis_connection_add(redis->connection, entry.words, entry.count);
    arena_free(&arena);
    if (status != STATUS_OK)
        item->done(item, status, &err);
    return status == STATUS_OK;
}

/* When the connection is lost, every later command of the pipeline has failed too. */
static bool read_answer(struct redis_sink *redis, struct err *err) {
    if (!redis->connection) {
        *err = redis->trouble;
        return false;
    }
    redisReply *reply =
        redis_connection_read(redis->connection, REDIS_COMMAND_TIMEOUT_MS, &redis->trouble);
    if (!reply) {
        *err = redis->trouble;
        disconnect(redis);
        return false;
    }
    bool ok = reply->type != REDIS_REPLY_ERROR;
    if (!ok)
        redis_connection_refused(redis->connection, reply, err);
    freeReplyObject(reply);
    return ok;
}

static size_t publish(struct sink *sink, struct sink_item **items, size_t count) {
    struct redis_sink *redis = redis_of(sink);
    bool connected = connect_if_needed(redis);
    size_t added = connected ? 0 : count;
    for (size_t i = 0; connected && i < count; i++)
        if (add_item(redis, items[i]))
            items[added++] = items[i];
    if (connected && redis_connection_send(redis->connection, &redis->trouble) != STATUS_OK)
        disconnect(redis);
    for (size_t i = 0; i < added; i++) {
        struct err err;
        bool ok = read_answer(redis, &err);
        items[i]->done(items[i], ok ? STATUS_OK : err.status, ok ? NULL : &err);
    }
    return count;
}

static void end(struct sink *sink) {
    disconnect(redis_of(sink));
}

/* ---- the outside ---- */

static void redis_free(struct sink *sink) {
    struct redis_sink *redis = redis_of(sink);
    sink_thread_free(&redis->thread);
    free(redis);
}

static const struct sink_vtable vtable = {
    .kind = "redis", .publish = sink_thread_publish, .free = redis_free};

static const struct sink_thread_work work = {.name = "redis-sink", .publish = publish, .end = end};

enum status redis_sink_check(struct bytes url, struct err *err) {
    struct redis_url parsed;
    return redis_url_sink(url, NULL, &parsed, err);
}

/* A missing key is created by publishing. A user who may publish need not be allowed to look. */
static enum status look(struct redis_connection *connection, const struct redis_url *url,
                        struct err *err) {
    enum status status = STATUS_OK;
    if (url->list.len)
        status = redis_connection_is(connection, url->list, "list", "list", err);
    else if (url->stream.len)
        status = redis_connection_is(connection, url->stream, "stream", "stream", err);
    if (status == STATUS_NOT_FOUND)
        *err = (struct err){STATUS_OK, ""};
    return status == STATUS_NOT_FOUND || status == STATUS_FORBIDDEN ? STATUS_OK : status;
}

enum status redis_sink_connect(const struct sink_options *options, struct err *err) {
    struct arena arena;
    struct redis_url url;
    arena_init_heap(&arena, URL_TEXT_MAX);
    enum status status = redis_url_sink(options->url, &arena, &url, err);
    struct redis_connection *connection =
        status == STATUS_OK ? redis_connection_open(&url, options->clock, err) : NULL;
    status = connection ? look(connection, &url, err) : err->status;
    redis_connection_free(connection);
    arena_free(&arena);
    return status;
}

struct sink *redis_sink_new(const struct sink_options *options) {
    struct redis_sink *redis = memory_new(sizeof *redis);
    struct arena *arena = &redis->thread.arena;
    sink_thread_init(&redis->thread, &vtable, &work, options);
    redis->hold_ms = REDIS_HOLD_FIRST_MS;
    enum status status = options->source ? redis_url_peek(options->url, arena, &redis->url, NULL)
                                         : redis_url_sink(options->url, arena, &redis->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    sink_thread_start(&redis->thread);
    return &redis->thread.sink;
}
