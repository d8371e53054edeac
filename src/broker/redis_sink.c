/* One thread owns the connection and takes what was posted, a pipeline at a time. Every wait has an
 * end, so that every item gets its answer soon, also from a server that hangs. An item that failed
 * may have been set all the same; setting it again changes nothing.
 *
 * A server that cannot be reached is not asked again before `hold_until`; what comes meanwhile
 * fails at once with the words of the last try. */
#include "broker/redis_sink.h"

#include <assert.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/mailbox.h"
#include "base/memory.h"
#include "base/thread.h"
#include "broker/redis_url.h"

enum {
    REDIS_CONNECT_TIMEOUT_MS = 2000,
    REDIS_COMMAND_TIMEOUT_MS = 5000,
    REDIS_HOLD_FIRST_MS = 100, /* after a connection that failed; doubles … */
    REDIS_HOLD_LAST_MS = 1000, /* … up to this */
    REDIS_PIPELINE_MAX = 64,   /* commands sent before their answers are read */
    REDIS_KEY_MAX = 64 * 1024, /* bytes of a key */
};

struct redis_sink {
    struct sink sink;
    struct clock *clock;
    struct arena arena; /* the texts of url */
    struct redis_url url;
    struct mailbox mailbox;
    atomic_bool closing;
    pthread_t thread;

    redisContext *context; /* NULL: not connected */
    struct mono hold_until;
    int64_t hold_ms;
    struct err trouble; /* of the last connection */
};

/* A posted item. */
struct order {
    struct mail mail;
    struct sink_item *item;
};

static struct timeval timeval_of(int64_t ms) {
    return (struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000};
}

/* ---- the connection ---- */

static void disconnect(struct redis_sink *redis) {
    redisFree(redis->context);
    redis->context = NULL;
}

/* One command whose answer is no more than OK. */
static bool said_ok(struct redis_sink *redis, redisReply *reply, struct err *err) {
    const redisContext *context = redis->context;
    bool ok = reply && reply->type != REDIS_REPLY_ERROR;
    if (!reply)
        err_set(err, STATUS_UNREACHABLE, "redis %.*s:%u: %s", BYTES_ARG(redis->url.host),
                redis->url.port, context->errstr);
    else if (!ok)
        err_set(err, STATUS_BUSY, "redis %.*s:%u: %s", BYTES_ARG(redis->url.host), redis->url.port,
                reply->str);
    if (reply)
        freeReplyObject(reply);
    return ok;
}

static bool log_in(struct redis_sink *redis, struct err *err) {
    struct bytes user = redis->url.user, password = redis->url.password;
    if (password.len == 0)
        return true;
    redisReply *reply = user.len
                            ? redisCommand(redis->context, "AUTH %b %b", user.ptr, user.len,
                                           password.ptr, password.len)
                            : redisCommand(redis->context, "AUTH %b", password.ptr, password.len);
    return said_ok(redis, reply, err);
}

static bool choose_database(struct redis_sink *redis, struct err *err) {
    if (redis->url.database == 0)
        return true;
    redisReply *reply = redisCommand(redis->context, "SELECT %u", redis->url.database);
    return said_ok(redis, reply, err);
}

static bool dial(struct redis_sink *redis, struct err *err) {
    redis->context = redisConnectWithTimeout(redis->url.host.ptr, redis->url.port,
                                             timeval_of(REDIS_CONNECT_TIMEOUT_MS));
    if (!redis->context)
        abort();
    if (redis->context->err) {
        err_set(err, STATUS_UNREACHABLE, "redis %.*s:%u: %s", BYTES_ARG(redis->url.host),
                redis->url.port, redis->context->errstr);
        return false;
    }
    redisSetTimeout(redis->context, timeval_of(REDIS_COMMAND_TIMEOUT_MS));
    return log_in(redis, err) && choose_database(redis, err);
}

/* Nothing is expected on an idle connection: what can be read there is its end. */
static bool went_away(const redisContext *context) {
    struct pollfd watched = {.fd = context->fd, .events = POLLIN};
    return poll(&watched, 1, 0) != 0;
}

static void hold(struct redis_sink *redis, struct mono now) {
    redis->hold_until = mono_after(now, redis->hold_ms);
    redis->hold_ms =
        redis->hold_ms * 2 < REDIS_HOLD_LAST_MS ? redis->hold_ms * 2 : REDIS_HOLD_LAST_MS;
}

static bool connect_if_needed(struct redis_sink *redis) {
    struct mono now = clock_now(redis->clock).mono;
    if (redis->context && went_away(redis->context))
        disconnect(redis);
    if (redis->context)
        return true;
    if (now.ms < redis->hold_until.ms)
        return false;
    if (dial(redis, &redis->trouble)) {
        redis->hold_ms = REDIS_HOLD_FIRST_MS;
        return true;
    }
    disconnect(redis);
    hold(redis, now);
    return false;
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
static void send_item(struct redis_sink *redis, const struct sink_item *item) {
    struct buf key;
    char ttl[32];
    buf_init_heap(&key, REDIS_KEY_MAX);
    put_key(&key, redis->url.key, item->id);
    int ttl_len = snprintf(ttl, sizeof ttl, "%lld", (long long)redis->url.ttl_ms);
    const char *words[] = {"SET", buf_cstr(&key), item->body.len ? item->body.ptr : "", "PX", ttl};
    size_t lengths[] = {3, key.len, item->body.len, 2, (size_t)ttl_len};
    redisAppendCommandArgv(redis->context, redis->url.ttl_ms ? 5 : 3, words, lengths);
    buf_free(&key);
}

/* Once the connection is gone, what was sent on it behind this one has failed like it. */
static bool read_answer(struct redis_sink *redis, struct err *err) {
    void *reply = NULL;
    if (!redis->context) {
        *err = redis->trouble;
        return false;
    }
    if (redisGetReply(redis->context, &reply) != REDIS_OK)
        reply = NULL;
    bool ok = said_ok(redis, reply, err);
    if (!reply) {
        redis->trouble = *err;
        disconnect(redis);
    }
    return ok;
}

static void publish_group(struct redis_sink *redis, struct sink_item **items, size_t count) {
    bool connected = connect_if_needed(redis);
    for (size_t i = 0; connected && i < count; i++)
        send_item(redis, items[i]);
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

enum status redis_sink_check(struct bytes text, struct err *err) {
    struct redis_url url;
    struct arena arena;
    arena_init_heap(&arena, 512);
    enum status status = redis_url_sink(text, &arena, &url, err);
    arena_free(&arena);
    return status;
}

struct sink *redis_sink_new(const struct sink_options *options) {
    struct redis_sink *redis = memory_new(sizeof *redis);
    redis->sink.vtable = &vtable;
    redis->clock = options->clock;
    redis->hold_ms = REDIS_HOLD_FIRST_MS;
    arena_init_heap(&redis->arena, 512);
    enum status status = redis_url_sink(options->url, &redis->arena, &redis->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    mailbox_init(&redis->mailbox);
    thread_start(&redis->thread, "redis-sink", run, redis);
    return &redis->sink;
}
