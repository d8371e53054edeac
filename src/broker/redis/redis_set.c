/* A sorted set as a source: it is read every second, and settled members are removed. The server
 * keeps no record of deliveries, so that only one consumer may read it.
 *
 * asynq keeps the ids of dead tasks in asynq:{QUEUE}:archived and each task in a hash of its own,
 * whose field `msg` is the message; removing one does what asynq's own inspector does. */
#include "broker/redis/redis_set.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text/ascii.h"
#include "broker/redis/redis_message.h"
#include "broker/redis/redis_reply.h"
#include "broker/redis/redis_shape.h"

enum { POLL_MS = 1000, KEY_MAX = 8 << 10, ID_SIZE = 17, TAG_MAX = 1 << 30 };

/* KEYS: the archive. ARGV: what a task's key begins with, from, to. → id, score, message, … */
#define ARCHIVE_RANGE                                                                              \
    "local out = {} "                                                                              \
    "local range = redis.call('ZRANGE', KEYS[1], ARGV[2], ARGV[3], 'WITHSCORES') "                 \
    "for i = 1, #range, 2 do "                                                                     \
    "  out[#out + 1] = range[i] "                                                                  \
    "  out[#out + 1] = range[i + 1] "                                                              \
    "  out[#out + 1] = redis.call('HGET', ARGV[1] .. range[i], 'msg') or '' "                      \
    "end "                                                                                         \
    "return out"

/* KEYS: the set. ARGV: the member, its score. A member that was added again since has another
 * score, and stays. */
#define REMOVE                                                                                     \
    "if redis.call('ZSCORE', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end "                      \
    "redis.call('ZREM', KEYS[1], ARGV[1]) "

/* The same with a task. ARGV further: what its key begins with. */
#define ARCHIVE_REMOVE                                                                             \
    REMOVE                                                                                         \
    "local key = ARGV[3] .. ARGV[1] "                                                              \
    "local unique = redis.call('HGET', key, 'unique_key') "                                        \
    "if unique and unique ~= '' and redis.call('GET', unique) == ARGV[1] then "                    \
    "  redis.call('DEL', unique) "                                                                 \
    "end "                                                                                         \
    "return redis.call('DEL', key)"

struct key {
    char text[KEY_MAX];
};

static struct bytes archive_key(const struct redis_url *url, const char *behind, struct key *key) {
    int len =
        snprintf(key->text, sizeof key->text, "asynq:{%.*s}:%s", BYTES_ARG(url->asynq), behind);
    return (struct bytes){key->text, (size_t)len < sizeof key->text ? (size_t)len : 0};
}

static struct bytes set_key(const struct redis_url *url, struct key *key) {
    return url->zset.len ? url->zset : archive_key(url, "archived", key);
}

/* ---- ranges ---- */

void redis_set_add_range(struct redis_connection *connection, const struct redis_url *url,
                         size_t from, size_t to) {
    char first[24], last[24];
    struct key set, task;
    snprintf(first, sizeof first, "%zu", from);
    snprintf(last, sizeof last, "%zu", to);
    struct bytes plain[] = {BYTES("ZRANGE"), url->zset, bytes_of(first), bytes_of(last),
                            BYTES("WITHSCORES")};
    struct bytes tasks[] = {BYTES("EVAL"),
                            BYTES(ARCHIVE_RANGE),
                            BYTES("1"),
                            archive_key(url, "archived", &set),
                            archive_key(url, "t:", &task),
                            bytes_of(first),
                            bytes_of(last)};
    if (url->zset.len)
        redis_connection_add(connection, plain, 5);
    else
        redis_connection_add(connection, tasks, 7);
}

void redis_set_add_count(struct redis_connection *connection, const struct redis_url *url) {
    struct key key;
    redis_connection_add(connection, (struct bytes[]){BYTES("ZCARD"), set_key(url, &key)}, 2);
}

static size_t words_of(const struct redis_url *url) {
    return url->zset.len ? 2 : 3;
}

size_t redis_set_count(const struct redis_url *url, const redisReply *reply) {
    return reply->elements / words_of(url);
}

struct redis_set_member redis_set_at(const struct redis_url *url, const redisReply *reply,
                                     size_t session) {
    redisReply **words = reply->element + session * words_of(url);
    struct bytes tag = redis_reply_text(words[0]), score = redis_reply_text(words[1]);
    return (struct redis_set_member){tag, score, url->zset.len ? tag : redis_reply_text(words[2])};
}

/* Whether the member looks like an id: one word, and no JSON but a number or a string. */
static bool is_id(struct bytes member) {
    enum { JOB_ID_MAX = 255 };
    if (member.len == 0 || member.len > JOB_ID_MAX)
        return false;
    for (size_t i = 0; i < member.len; i++) {
        char c = member.ptr[i];
        if (!ascii_is_alnum(c) && (c == '\0' || !strchr("-_.:/@#\"", c)))
            return false;
    }
    return true;
}

enum status redis_set_check_ids(const struct redis_url *url, const redisReply *reply,
                                struct err *err) {
    enum { SHOWN_MAX = 80 };
    for (size_t i = 0; url->zset.len && i < redis_set_count(url, reply); i++) {
        struct bytes member = redis_set_at(url, reply, i).tag;
        if (is_id(member))
            return err_set(err, STATUS_CONFLICT,
                           "redis: sorted set \"%.*s\" holds ids of jobs, not messages: \"%.*s\"; "
                           "taking one would leave its job behind. Retry them with their own "
                           "system (BullMQ: job.retry(), RQ: rq requeue), or adopt a place that "
                           "holds whole messages",
                           BYTES_ARG(bytes_clip(url->zset, SHOWN_MAX)),
                           BYTES_ARG(bytes_clip(member, SHOWN_MAX)));
    }
    return STATUS_OK;
}

/* The score is the time of death: a member that is added again is another message. */
struct message *redis_set_message(const struct redis_url *url,
                                  const struct redis_set_member *member) {
    char id[ID_SIZE];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)bytes_hash(member->tag));
    struct message *held =
        url->zset.len
            ? redis_message_of_member("zset", url->zset, url->id_path, bytes_of(id), member->body)
            : redis_message_of_member("asynq", url->asynq, BYTES_NONE, member->tag, member->body);
    held->delivery = arena_dup(&held->arena, member->score);
    held->redelivered = true;
    return held;
}

/* ---- the shape ---- */

static bool present(struct redis_session *session, struct err *err) {
    struct key key;
    struct bytes name = set_key(session->url, &key);
    enum status status = redis_connection_is(session->work, name, "zset", "sorted set", err);
    if (status != STATUS_OK)
        return status == STATUS_NOT_FOUND;
    redis_set_add_range(session->work, session->url, 0, 0);
    redisReply *reply = redis_connection_send(session->work, err) == STATUS_OK
                            ? redis_connection_read(session->work, REDIS_COMMAND_TIMEOUT_MS, err)
                            : NULL;
    bool messages = reply && (reply->type == REDIS_REPLY_ERROR ||
                              redis_set_check_ids(session->url, reply, err) == STATUS_OK);
    freeReplyObject(reply);
    return messages;
}

/* Nothing is ours at the server. */
static bool nothing(struct redis_session *session, struct err *err) {
    (void)session;
    (void)err;
    return true;
}

/* By its score and member: "1700001000.5 {…". */
static struct bytes tag_of(const struct redis_set_member *member, struct buf *text) {
    buf_init_heap(text, TAG_MAX);
    buf_bytes(text, member->score);
    buf_char(text, ' ');
    buf_bytes(text, member->tag);
    return buf_view(text);
}

/* Messages that were fetched stay in the set until they are settled. */
static size_t ask(struct redis_session *session, size_t room) {
    if (clock_now(session->clock).mono.ms < session->idle_until.ms)
        return 0;
    redis_set_add_range(session->fetch, session->url, 0,
                        redis_inflight_known(session->inflight) + room - 1);
    return 1;
}

static bool take(struct redis_session *session, size_t which, const redisReply *reply,
                 struct err *err) {
    bool any = false;
    (void)which;
    if (reply->type == REDIS_REPLY_ERROR) {
        redis_connection_refused(session->fetch, reply, err);
        return false;
    }
    if (redis_set_check_ids(session->url, reply, err) != STATUS_OK)
        return false;
    for (size_t i = 0; i < redis_set_count(session->url, reply); i++) {
        struct redis_set_member member = redis_set_at(session->url, reply, i);
        struct buf text;
        struct bytes tag = tag_of(&member, &text);
        if (!redis_inflight_knows(session->inflight, tag)) {
            redis_inflight_add(session->inflight, tag, redis_set_message(session->url, &member));
            any = true;
        }
        buf_free(&text);
    }
    if (!any)
        session->idle_until = mono_after(clock_now(session->clock).mono, POLL_MS);
    return true;
}

static void settle(struct redis_session *session, struct redis_item *const *items, size_t count) {
    const struct redis_item *item = items[0];
    struct key set, task;
    assert(count == 1);
    size_t space = bytes_find(item->tag, BYTES(" "));
    bool plain = session->url->zset.len > 0;
    struct bytes words[] = {BYTES("EVAL"),
                            plain ? BYTES(REMOVE "return 1") : BYTES(ARCHIVE_REMOVE),
                            BYTES("1"),
                            set_key(session->url, &set),
                            bytes_cut(item->tag, space + 1, item->tag.len),
                            bytes_cut(item->tag, 0, space),
                            archive_key(session->url, "t:", &task)};
    redis_connection_add(session->work, words, plain ? 6 : 7);
}

/* Fetching removes nothing. */
static bool give_back(struct redis_session *session, size_t *count, struct err *err) {
    struct redis_item *items[REDIS_AT_ONCE];
    (void)err;
    *count = redis_inflight_withdraw(session->inflight, items, REDIS_AT_ONCE);
    redis_inflight_forget(session->inflight, items, *count);
    return true;
}

static bool lag(struct redis_session *session, uint64_t *out, struct err *err) {
    redis_set_add_count(session->work, session->url);
    redisReply *reply = redis_connection_send(session->work, err) == STATUS_OK
                            ? redis_connection_read(session->work, REDIS_COMMAND_TIMEOUT_MS, err)
                            : NULL;
    if (!reply)
        return false;
    uint64_t known = redis_inflight_known(session->inflight);
    uint64_t all = reply->type == REDIS_REPLY_INTEGER ? (uint64_t)reply->integer : 0;
    *out = all > known ? all - known : 0;
    freeReplyObject(reply);
    return true;
}

const struct redis_shape redis_set_shape = {
    .present = present,
    .begin = nothing,
    .ask = ask,
    .take = take,
    .settle = settle,
    .settles = 1,
    .looks = true,
    .give_back = give_back,
    .tend = nothing,
    .lag = lag,
};
