/* One thread owns the connection and takes what was posted, a pipeline at a time. Every wait has an
 * end, so that every item gets its answer soon, also from a server that hangs. An item that failed
 * may have been set all the same; setting it again changes nothing.
 *
 * A server that cannot be reached is not asked again before `hold_until`; what comes meanwhile
 * fails at once with the words of the last try. */
#include "broker/redis/redis_sink.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/thread.h"
#include "broker/redis/redis_connection.h"
#include "broker/redis/redis_entry.h"

enum {
    REDIS_HOLD_FIRST_MS = 100, /* after a connection that failed; doubles … */
    REDIS_HOLD_LAST_MS = 1000, /* … up to this */
    REDIS_PIPELINE_MAX = 64,   /* commands sent before their answers are read */
    REDIS_KEY_MAX = 64 * 1024, /* bytes of a key */
    REDIS_TEXTS_CHUNK = 4096,
};

struct redis_sink {
    struct sink sink;
    struct clock *clock;
    struct arena arena; /* the texts of url */
    struct redis_url url;
    struct mailbox mailbox;
    atomic_bool closing;
    pthread_t thread;

    struct redis_connection *connection; /* NULL: not connected */
    struct mono hold_until;
    int64_t hold_ms;
    struct err trouble; /* of the last connection */
};

/* A posted item. */
struct order {
    struct mail mail;
    struct sink_item *item;
};

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
    struct mono now = clock_now(redis->clock).mono;
    if (redis->connection && redis_connection_ended(redis->connection))
        disconnect(redis);
    if (redis->connection)
        return true;
    if (now.ms < redis->hold_until.ms)
        return false;
    redis->connection = redis_connection_open(&redis->url, redis->clock, &redis->trouble);
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

/* False: it is answered, because it can go nowhere. */
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

/* Once the connection is gone, what was sent on it behind this one has failed like it. */
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

static void publish_group(struct redis_sink *redis, struct sink_item **items, size_t count) {
    bool connected = connect_if_needed(redis);
    size_t added = connected ? 0 : count;
    for (size_t i = 0; connected && i < count; i++)
        if (add_item(redis, items[i]))
            items[added++] = items[i];
    count = added;
    if (connected && redis_connection_send(redis->connection, &redis->trouble) != STATUS_OK)
        disconnect(redis);
    for (size_t i = 0; i < count; i++) {
        struct err err;
        bool ok = read_answer(redis, &err);
        items[i]->done(items[i], ok ? STATUS_OK : err.status, ok ? NULL : &err);
    }
}

static void publish_posted(struct redis_sink *redis) {
    struct sink_item *items[REDIS_PIPELINE_MAX];
    size_t count = 0;
    struct mail *next;
    for (struct mail *mail = mailbox_take(&redis->mailbox); mail; mail = next) {
        struct order *order = CONTAINER_OF(mail, struct order, mail);
        next = mail->next;
        items[count++] = order->item;
        free(order);
        if (count == REDIS_PIPELINE_MAX || !next) {
            publish_group(redis, items, count);
            count = 0;
        }
    }
}

static void *run(void *arg) {
    struct redis_sink *redis = arg;
    while (!atomic_load(&redis->closing)) {
        publish_posted(redis);
        mailbox_wait(&redis->mailbox, MONO_NEVER);
    }
    return NULL;
}

/* ---- the outside ---- */

static void redis_publish(struct sink *sink, struct sink_item *item) {
    struct redis_sink *redis = CONTAINER_OF(sink, struct redis_sink, sink);
    struct order *order = memory_new(sizeof *order);
    order->item = item;
    mailbox_post(&redis->mailbox, &order->mail);
}

static void redis_free(struct sink *sink) {
    struct redis_sink *redis = CONTAINER_OF(sink, struct redis_sink, sink);
    atomic_store(&redis->closing, true);
    mailbox_ring(&redis->mailbox);
    pthread_join(redis->thread, NULL);
    disconnect(redis);
    mailbox_free(&redis->mailbox);
    arena_free(&redis->arena);
    free(redis);
}

static const struct sink_vtable vtable = {
    .kind = "redis", .publish = redis_publish, .free = redis_free};

enum status redis_sink_check(struct bytes url, struct err *err) {
    struct redis_url parsed;
    return redis_url_sink(url, NULL, &parsed, err);
}

/* What is not there is made by what is published. Who may publish need not be allowed to look. */
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
    redis->sink.vtable = &vtable;
    redis->clock = options->clock;
    redis->hold_ms = REDIS_HOLD_FIRST_MS;
    arena_init_heap(&redis->arena, 512);
    enum status status = options->source
                             ? redis_url_peek(options->url, &redis->arena, &redis->url, NULL)
                             : redis_url_sink(options->url, &redis->arena, &redis->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    mailbox_init(&redis->mailbox);
    thread_start(&redis->thread, "redis-sink", run, redis);
    return &redis->sink;
}
