/* A list as a source: producers push on the left, we take from the right.
 *
 *   orders ──take──▶ orders:impound:CONSUMER ──settle──▶ gone
 *          ◀──give back──
 *
 * Elements that were taken and not settled are in a hash of this consumer, each under a new tag, so
 * that equal elements stay distinct and each is settled by its tag in one step. A script takes an
 * element and writes it into the hash atomically: kill -9 of either side loses and duplicates
 * nothing. A letter that was sent back here is recognised by its mark (redis_mark.h).
 * orders:impound has every consumer with the time of its last heartbeat; the elements of a dead
 * consumer go back to the list. */
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/text/uuid.h"
#include "broker/redis/redis_mark.h"
#include "broker/redis/redis_message.h"
#include "broker/redis/redis_reply.h"
#include "broker/redis/redis_shape.h"

enum { FETCH_ANSWERS = 2, NAME_MAX_BYTES = 64 << 10 };

/* KEYS: the list, our hash, the marks. ARGV: tags. → length of what is left, tags and elements. */
#define TAKE                                                                                       \
    REDIS_MARK_TAKE                                                                                \
    "local out = {0} "                                                                             \
    "local marked = redis.call('EXISTS', KEYS[3]) == 1 "                                           \
    "for i = 1, #ARGV do "                                                                         \
    "  local element = redis.call('RPOP', KEYS[1]) "                                               \
    "  if not element then break end "                                                             \
    "  local tag = ARGV[i] "                                                                       \
    "  if marked then tag = tag .. mark_take(KEYS[3], element) end "                               \
    "  redis.call('HSET', KEYS[2], tag, element) "                                                 \
    "  out[#out + 1] = tag "                                                                       \
    "  out[#out + 1] = element "                                                                   \
    "end "                                                                                         \
    "out[1] = redis.call('LLEN', KEYS[1]) "                                                        \
    "return out"

/* KEYS: the list, our hash, the marks. ARGV: the push command, the tag. A tag that is not in the
 * hash was taken over by another consumer. */
#define GIVE_BACK                                                                                  \
    REDIS_MARK_GIVE_BACK                                                                           \
    "local element = redis.call('HGET', KEYS[2], ARGV[2]) "                                        \
    "if element then "                                                                             \
    "  redis.call(ARGV[1], KEYS[1], element) "                                                     \
    "  redis.call('HDEL', KEYS[2], ARGV[2]) "                                                      \
    "  mark_give_back(KEYS[3], element, ARGV[2]) "                                                 \
    "end "                                                                                         \
    "return 1"

/* KEYS: the list, the consumers, the marks. ARGV: our name, after how many ms without a heartbeat a
 * consumer is dead. → how many elements of dead consumers went back. */
#define TEND                                                                                       \
    REDIS_MARK_GIVE_BACK                                                                           \
    "local time = redis.call('TIME') "                                                             \
    "local now = time[1] * 1000 + math.floor(time[2] / 1000) "                                     \
    "local moved = 0 "                                                                             \
    "redis.call('ZADD', KEYS[2], now, ARGV[1]) "                                                   \
    "local dead = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now - ARGV[2]) "                    \
    "for _, consumer in ipairs(dead) do "                                                          \
    "  local hash = KEYS[2] .. ':' .. consumer "                                                   \
    "  local tags = redis.call('HKEYS', hash) "                                                    \
    "  table.sort(tags, function(a, b) return a > b end) "                                         \
    "  for _, tag in ipairs(tags) do "                                                             \
    "    local element = redis.call('HGET', hash, tag) "                                           \
    "    redis.call('RPUSH', KEYS[1], element) "                                                   \
    "    mark_give_back(KEYS[3], element, tag) "                                                   \
    "    moved = moved + 1 "                                                                       \
    "  end "                                                                                       \
    "  redis.call('DEL', hash) "                                                                   \
    "  redis.call('ZREM', KEYS[2], consumer) "                                                     \
    "end "                                                                                         \
    "return moved"

/* KEYS: our hash, the consumers. ARGV: us. */
#define END                                                                                        \
    "if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('ZREM', KEYS[2], ARGV[1]) end "         \
    "return 1"

/* ---- beginning ---- */

static struct bytes name(struct redis_session *session, const char *behind, struct bytes last) {
    struct buf text;
    buf_init_heap(&text, NAME_MAX_BYTES);
    buf_bytes(&text, session->url->list);
    buf_str(&text, behind);
    buf_bytes(&text, last);
    struct bytes kept = arena_dup(&session->arena, buf_view(&text));
    buf_free(&text);
    return kept;
}

static bool present(struct redis_session *session, struct err *err) {
    if (!session->hash.ptr) {
        session->consumers = name(session, ":impound", BYTES_NONE);
        session->hash = name(session, ":impound:", session->consumer);
        session->marks = name(session, REDIS_MARK_BEHIND, BYTES_NONE);
    }
    enum status status =
        redis_connection_is(session->work, session->url->list, "list", "list", err);
    return status == STATUS_OK || status == STATUS_NOT_FOUND;
}

static void add(struct redis_session *session, const redisReply *tag, const redisReply *element,
                bool redelivered) {
    struct message *held =
        redis_message_of_element(session->url->list, session->url->id_path, redis_reply_text(tag),
                                 redis_reply_text(element));
    held->delivery = arena_dup(&held->arena, redis_reply_text(tag));
    held->redelivered = redelivered;
    redis_inflight_add(session->inflight, redis_reply_text(tag), held);
}

static bool length(struct redis_session *session, struct bytes command, struct bytes key,
                   uint64_t *sum, struct err *err) {
    redisReply *reply = redis_connection_ask(session->work, (struct bytes[]){command, key}, 2, err);
    if (!reply)
        return false;
    if (reply->type == REDIS_REPLY_INTEGER)
        *sum += (uint64_t)reply->integer;
    freeReplyObject(reply);
    return true;
}

/* Tags are ordered by time, so what was taken first is first. */
static int by_tag(const void *a, const void *b) {
    const redisReply *const *left = a, *const *right = b;
    return bytes_cmp(redis_reply_text(left[0]), redis_reply_text(right[0]));
}

static bool recover(struct redis_session *session, struct err *err) {
    struct bytes words[] = {BYTES("HGETALL"), session->hash};
    redisReply *reply = redis_connection_ask(session->work, words, 2, err);
    if (!reply)
        return false;
    if (reply->elements > 0)
        qsort(reply->element, reply->elements / 2, 2 * sizeof *reply->element, by_tag);
    for (size_t i = 0; i + 1 < reply->elements; i += 2)
        if (!redis_inflight_knows(session->inflight, redis_reply_text(reply->element[i])))
            add(session, reply->element[i], reply->element[i + 1], true);
    freeReplyObject(reply);
    return true;
}

/* Heartbeat. Our elements are recovered before the first one; another consumer may have declared us
 * dead. */
static bool say_alive(struct redis_session *session, struct err *err) {
    char idle[24];
    snprintf(idle, sizeof idle, "%lld", (long long)session->url->idle_ms);
    struct bytes words[] = {BYTES("EVAL"),      BYTES(TEND),        BYTES("3"),
                            session->url->list, session->consumers, session->marks,
                            session->consumer,  bytes_of(idle)};
    redisReply *reply = redis_connection_ask(session->work, words, 8, err);
    if (!reply)
        return false;
    if (reply->type == REDIS_REPLY_INTEGER && reply->integer > 0)
        log_warn("redis list %.*s: %lld messages of dead consumers were returned to the list",
                 BYTES_ARG(session->url->list), reply->integer);
    freeReplyObject(reply);
    return true;
}

/* A take that timed out here may reach the server late: its elements are in our hash, and unknown
 * to us. */
static bool look_for_strays(struct redis_session *session, struct err *err) {
    uint64_t ours = 0;
    return length(session, BYTES("HLEN"), session->hash, &ours, err) &&
           (ours <= redis_inflight_known(session->inflight) || recover(session, err));
}

static bool tend(struct redis_session *session, struct err *err) {
    return say_alive(session, err) && look_for_strays(session, err);
}

static bool begin(struct redis_session *session, struct err *err) {
    return say_alive(session, err) && recover(session, err);
}

/* A consumer without elements needs no heartbeat. */
static void end(struct redis_session *session) {
    struct bytes words[] = {BYTES("EVAL"), BYTES(END),         BYTES("2"),
                            session->hash, session->consumers, session->consumer};
    redisReply *reply = redis_connection_ask(session->work, words, 6, NULL);
    if (reply)
        freeReplyObject(reply);
}

/* ---- fetching ---- */

/* BLMOVE of the last element to where it is waits until there is one, and changes nothing. */
static size_t ask(struct redis_session *session, size_t room) {
    char block[24], tags[REDIS_AT_ONCE][UUID_TEXT_SIZE];
    struct bytes words[6 + REDIS_AT_ONCE] = {BYTES("EVAL"),      BYTES(TAKE),   BYTES("3"),
                                             session->url->list, session->hash, session->marks};
    snprintf(block, sizeof block, "%d", REDIS_BLOCK_MS / 1000);
    struct bytes wait[] = {BYTES("BLMOVE"), session->url->list, session->url->list,
                           BYTES("RIGHT"),  BYTES("RIGHT"),     bytes_of(block)};
    struct wall now = clock_now(session->clock).wall;
    for (size_t i = 0; i < room; i++) {
        uuid_v7(now, session->rng, tags[i]);
        words[6 + i] = (struct bytes){tags[i], UUID_TEXT_SIZE - 1};
    }
    redis_connection_add(session->fetch, wait, 6);
    redis_connection_add(session->fetch, words, 6 + room);
    return FETCH_ANSWERS;
}

static bool take(struct redis_session *session, size_t which, const redisReply *reply,
                 struct err *err) {
    if (reply->type == REDIS_REPLY_ERROR) {
        redis_connection_refused(session->fetch, reply, err);
        return false;
    }
    if (which == 0)
        return true; /* there is an element, or the wait has timed out */
    for (size_t i = 1; i + 1 < reply->elements; i += 2)
        if (!redis_inflight_knows(session->inflight, redis_reply_text(reply->element[i])))
            add(session, reply->element[i], reply->element[i + 1], false);
    return true;
}

/* ---- letting go ---- */

static void settle(struct redis_session *session, struct redis_item *const *items, size_t count) {
    struct bytes words[2 + REDIS_AT_ONCE] = {BYTES("HDEL"), session->hash};
    for (size_t i = 0; i < count; i++)
        words[2 + i] = items[i]->tag;
    redis_connection_add(session->work, words, 2 + count);
}

/* A message that the engine had goes to the end of the list, one that it never received to where it
 * was. */
static void add_give_back(struct redis_session *session, const struct redis_item *item) {
    struct bytes words[] = {BYTES("EVAL"),
                            BYTES(GIVE_BACK),
                            BYTES("3"),
                            session->url->list,
                            session->hash,
                            session->marks,
                            item->handed_back ? BYTES("LPUSH") : BYTES("RPUSH"),
                            item->tag};
    redis_connection_add(session->work, words, 8);
}

static bool give_back(struct redis_session *session, size_t *count, struct err *err) {
    struct redis_item *items[REDIS_AT_ONCE];
    *count = redis_inflight_withdraw(session->inflight, items, REDIS_AT_ONCE);
    for (size_t i = 0; i < *count; i++)
        add_give_back(session, items[i]);
    bool good = *count == 0 || redis_connection_send(session->work, err) == STATUS_OK;
    for (size_t i = 0; i < *count; i++) {
        redisReply *reply =
            good ? redis_connection_read(session->work, REDIS_COMMAND_TIMEOUT_MS, err) : NULL;
        good = reply && reply->type != REDIS_REPLY_ERROR;
        if (reply && !good)
            redis_connection_refused(session->work, reply, err);
        if (reply)
            freeReplyObject(reply);
        if (good)
            redis_inflight_forget(session->inflight, &items[i], 1);
        else
            redis_inflight_keep(session->inflight, items[i]);
    }
    return good;
}

static bool lag(struct redis_session *session, uint64_t *out, struct err *err) {
    *out = 0;
    return length(session, BYTES("LLEN"), session->url->list, out, err) &&
           (session->begun || length(session, BYTES("HLEN"), session->hash, out, err));
}

const struct redis_shape redis_list_shape = {
    .present = present,
    .begin = begin,
    .ask = ask,
    .take = take,
    .settle = settle,
    .settles = REDIS_AT_ONCE,
    .give_back = give_back,
    .tend = tend,
    .end = end,
    .lag = lag,
};
