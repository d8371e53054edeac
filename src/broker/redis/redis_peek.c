/* One connection, and commands that only read: LRANGE, XRANGE, ZRANGE. The pass ends at what was
 * the last element when it began. */
#include "broker/redis/redis_peek.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/memory.h"
#include "broker/redis/redis_message.h"
#include "broker/redis/redis_reply.h"
#include "broker/redis/redis_set.h"

enum { ENTRY_MAX = 64, NUMBER_MAX = 24, ID_SIZE = 17 };

struct redis_peek {
    struct peek peek;
    struct clock *clock;
    struct arena arena; /* of the url */
    struct redis_url url;
    struct redis_connection *connection;    /* NULL: the pass has not begun */
    uint64_t total, done;                   /* of a list or a set */
    char after[ENTRY_MAX], last[ENTRY_MAX]; /* of a stream: entries' ids; "": none */
};

static struct redis_peek *self(struct peek *peek) {
    return CONTAINER_OF(peek, struct redis_peek, peek);
}

/* The answer to the commands that were added; NULL: err says why there is none. */
static redisReply *ask(struct redis_peek *redis, struct err *err) {
    redisReply *reply =
        redis_connection_send(redis->connection, err) == STATUS_OK
            ? redis_connection_read(redis->connection, REDIS_COMMAND_TIMEOUT_MS, err)
            : NULL;
    if (!reply || reply->type != REDIS_REPLY_ERROR)
        return reply;
    redis_connection_refused(redis->connection, reply, err);
    freeReplyObject(reply);
    return NULL;
}

/* ---- lists: the oldest are on the right ---- */

static void list_begin(struct redis_peek *redis) {
    redis_connection_add(redis->connection, (struct bytes[]){BYTES("LLEN"), redis->url.list}, 2);
}

/* From the right, so that elements pushed on the left meanwhile move nothing. */
static void list_ask(struct redis_peek *redis, size_t max) {
    char first[NUMBER_MAX], last[NUMBER_MAX];
    snprintf(first, sizeof first, "-%llu", (unsigned long long)redis->done + max);
    snprintf(last, sizeof last, "-%llu", (unsigned long long)redis->done + 1);
    struct bytes words[] = {BYTES("LRANGE"), redis->url.list, bytes_of(first), bytes_of(last)};
    redis_connection_add(redis->connection, words, 4);
}

static size_t list_take(struct redis_peek *redis, const redisReply *reply, struct message **out) {
    for (size_t i = 0; i < reply->elements; i++) {
        char id[ID_SIZE];
        struct bytes element = redis_reply_text(reply->element[reply->elements - 1 - i]);
        snprintf(id, sizeof id, "%016llx", (unsigned long long)bytes_hash(element));
        out[i] =
            redis_message_of_element(redis->url.list, redis->url.id_path, bytes_of(id), element);
    }
    redis->done += reply->elements;
    return reply->elements;
}

/* ---- sets ---- */

static void set_begin(struct redis_peek *redis) {
    redis_set_add_count(redis->connection, &redis->url);
}

static void set_ask(struct redis_peek *redis, size_t max) {
    redis_set_add_range(redis->connection, &redis->url, redis->done, redis->done + max - 1);
}

static size_t set_take(struct redis_peek *redis, const redisReply *reply, struct message **out) {
    size_t count = redis_set_count(&redis->url, reply);
    for (size_t i = 0; i < count; i++) {
        struct redis_set_member member = redis_set_at(&redis->url, reply, i);
        out[i] = redis_set_message(&redis->url, &member);
    }
    redis->done += count;
    return count;
}

/* ---- streams ---- */

static void stream_begin(struct redis_peek *redis) {
    struct bytes words[] = {BYTES("XREVRANGE"), redis->url.stream, BYTES("+"),
                            BYTES("-"),         BYTES("COUNT"),    BYTES("1")};
    redis_connection_add(redis->connection, words, 6);
}

static void stream_ask(struct redis_peek *redis, size_t max) {
    char from[ENTRY_MAX + 1], count[NUMBER_MAX];
    snprintf(from, sizeof from, "%s%s", redis->after[0] ? "(" : "-", redis->after);
    snprintf(count, sizeof count, "%zu", max);
    struct bytes words[] = {BYTES("XRANGE"),       redis->url.stream, bytes_of(from),
                            bytes_of(redis->last), BYTES("COUNT"),    bytes_of(count)};
    redis_connection_add(redis->connection, words, 6);
}

static void note_entry(char note[ENTRY_MAX], const redisReply *entry) {
    snprintf(note, ENTRY_MAX, "%.*s", BYTES_ARG(redis_reply_text(entry->element[0])));
}

static size_t stream_take(struct redis_peek *redis, const redisReply *reply, struct message **out) {
    size_t count = 0;
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *entry = reply->element[i];
        if (!redis_reply_is_entry(entry))
            continue;
        note_entry(redis->after, entry);
        out[count++] =
            redis_reply_entry(&redis->url, redis_reply_text(entry->element[0]), entry->element[1]);
    }
    return count;
}

/* ---- a pass ---- */

/* How each type is read. `begin` asks for its present end; `ask` for the next elements. */
struct redis_reading {
    void (*begin)(struct redis_peek *redis);
    void (*ask)(struct redis_peek *redis, size_t max);
    size_t (*take)(struct redis_peek *redis, const redisReply *reply, struct message **out);
};

static const struct redis_reading list_reading = {list_begin, list_ask, list_take},
                                  set_reading = {set_begin, set_ask, set_take},
                                  stream_reading = {stream_begin, stream_ask, stream_take};

static const struct redis_reading *reading_of(const struct redis_peek *redis) {
    return redis->url.list.len     ? &list_reading
           : redis->url.stream.len ? &stream_reading
                                   : &set_reading;
}

static bool open_pass(struct redis_peek *redis, struct err *err) {
    if (redis->connection)
        return true;
    redis->connection = redis_connection_open(&redis->url, redis->clock, err);
    if (!redis->connection)
        return false;
    reading_of(redis)->begin(redis);
    redisReply *reply = ask(redis, err);
    if (!reply)
        return false;
    if (reply->type == REDIS_REPLY_INTEGER)
        redis->total = (uint64_t)reply->integer;
    else if (reply->elements == 1 && redis_reply_is_entry(reply->element[0]))
        note_entry(redis->last, reply->element[0]);
    freeReplyObject(reply);
    return true;
}

static bool is_over(const struct redis_peek *redis) {
    return redis->done >= redis->total && !redis->last[0];
}

/* A missing permission may be granted later, so it is not FORBIDDEN; and a server that was silent
 * for as long as we wait is unreachable. */
static enum status failed(const struct err *err) {
    bool away = err->status == STATUS_FORBIDDEN || err->status == STATUS_TIMEOUT;
    return away ? STATUS_UNREACHABLE : err->status;
}

static enum status begin(struct peek *peek, struct err *err) {
    struct redis_peek *redis = self(peek);
    if (!open_pass(redis, err))
        return failed(err);
    if (!redis->url.zset.len)
        return STATUS_OK;
    redis_set_add_range(redis->connection, &redis->url, 0, 0);
    redisReply *reply = ask(redis, err);
    if (!reply)
        return failed(err);
    enum status status = redis_set_check_ids(&redis->url, reply, err);
    freeReplyObject(reply);
    return status;
}

static enum status next(struct peek *peek, struct message **out, size_t max, size_t *count,
                        struct err *err) {
    struct redis_peek *redis = self(peek);
    *count = 0;
    if (!open_pass(redis, err))
        return failed(err);
    if (is_over(redis))
        return STATUS_OK;
    if (redis->total && redis->total - redis->done < max)
        max = (size_t)(redis->total - redis->done);
    reading_of(redis)->ask(redis, max);
    redisReply *reply = ask(redis, err);
    if (!reply)
        return failed(err);
    enum status status = redis_set_check_ids(&redis->url, reply, err);
    if (status == STATUS_OK)
        *count = reading_of(redis)->take(redis, reply, out);
    freeReplyObject(reply);
    return status;
}

static void redis_free(struct peek *peek) {
    struct redis_peek *redis = self(peek);
    redis_connection_free(redis->connection);
    arena_free(&redis->arena);
    free(redis);
}

static const struct peek_vtable vtable = {.begin = begin, .next = next, .free = redis_free};

struct peek *redis_peek_new(const struct broker_options *options) {
    struct redis_peek *redis = memory_new(sizeof *redis);
    redis->peek.vtable = &vtable;
    redis->clock = options->clock;
    arena_init_heap(&redis->arena, 512);
    enum status status = redis_url_peek(options->url, &redis->arena, &redis->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    return &redis->peek;
}
