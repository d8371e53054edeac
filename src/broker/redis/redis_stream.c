/* A stream as a source, read through a consumer group.
 *
 * Entries that were delivered to us and not acknowledged are in the group's list of pending
 * entries, under our consumer name, which survives restarts. A delivery counts when the engine
 * receives it: entries that were pending before this process started, or of a dead consumer, are
 * claimed without being counted, and counted when they are received. While entries are in flight
 * their idle time is reset, so that no other consumer claims them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "broker/redis/redis_reply.h"
#include "broker/redis/redis_shape.h"

enum {
    PAGE = 256, /* entries in one page */
    CLAIM_AT_ONCE = 100,
    CLAIMED_MAX = 8192, /* messages in flight, when no more entries of dead consumers are claimed */
};

static bool refuse(struct redis_session *session, redisReply *reply, struct err *err) {
    redis_connection_refused(session->work, reply, err);
    freeReplyObject(reply);
    return false;
}

/* ---- entries ---- */

static void add(struct redis_session *session, struct bytes entry, const redisReply *pairs,
                uint32_t deliveries) {
    struct message *held = redis_reply_entry(session->url, entry, pairs);
    held->deliveries = deliveries;
    held->redelivered = deliveries > 1;
    redis_inflight_add(session->inflight, entry, held);
}

/* ---- what was given to us before ---- */

struct redis_pending {
    struct bytes entry;
    uint32_t deliveries; /* as counted by the server so far */
};

/* The next page of our pending entries after `after`; only those that are unknown here. */
static bool list_pending(struct redis_session *session, struct bytes *after, struct arena *arena,
                         struct redis_pending *out, size_t *count, bool *more, struct err *err) {
    char start[64], page[16];
    snprintf(start, sizeof start, "%s%.*s", after->len ? "(" : "-", BYTES_ARG(*after));
    snprintf(page, sizeof page, "%d", PAGE);
    struct bytes words[] = {BYTES("XPENDING"), session->url->stream, session->url->group,
                            bytes_of(start),   BYTES("+"),           bytes_of(page),
                            session->consumer};
    redisReply *reply = redis_connection_ask(session->work, words, 7, err);
    if (!reply)
        return false;
    *count = 0;
    *more = reply->elements == PAGE;
    for (size_t i = 0; i < reply->elements; i++) {
        const redisReply *row = reply->element[i];
        if (row->type != REDIS_REPLY_ARRAY || row->elements < 4)
            continue;
        *after = arena_dup(arena, redis_reply_text(row->element[0]));
        if (!redis_inflight_knows(session->inflight, *after))
            out[(*count)++] = (struct redis_pending){*after, (uint32_t)row->element[3]->integer};
    }
    freeReplyObject(reply);
    return true;
}

/* An entry that was deleted or trimmed while it was pending has no content to be handled. */
static void drop(struct redis_session *session, struct bytes entry) {
    log_warn("redis stream %.*s: entry %.*s was deleted before it was handled",
             BYTES_ARG(session->url->stream), BYTES_ARG(entry));
    struct bytes words[] = {BYTES("XACK"), session->url->stream, session->url->group, entry};
    redisReply *reply = redis_connection_ask(session->work, words, 4, NULL);
    if (reply)
        freeReplyObject(reply);
}

static bool read_pending(struct redis_session *session, const struct redis_pending *pending,
                         size_t count, struct err *err) {
    redisReply *replies[PAGE];
    for (size_t i = 0; i < count; i++)
        redis_connection_add(session->work,
                             (struct bytes[]){BYTES("XRANGE"), session->url->stream,
                                              pending[i].entry, pending[i].entry},
                             4);
    if (redis_connection_send(session->work, err) != STATUS_OK)
        return false;
    size_t got = 0;
    while (got < count &&
           (replies[got] = redis_connection_read(session->work, REDIS_COMMAND_TIMEOUT_MS, err)))
        got++;
    bool good = got == count;
    for (size_t i = 0; i < got; i++) {
        const redisReply *found = replies[i];
        if (good && found->type == REDIS_REPLY_ERROR) {
            redis_connection_refused(session->work, found, err);
            good = false;
        } else if (good && found->type == REDIS_REPLY_ARRAY) {
            if (found->elements == 1 && redis_reply_is_entry(found->element[0]))
                add(session, pending[i].entry, found->element[0]->element[1],
                    pending[i].deliveries + 1);
            else
                drop(session, pending[i].entry);
        }
        freeReplyObject(replies[i]);
    }
    return good;
}

static bool recover(struct redis_session *session, struct err *err) {
    struct arena arena;
    struct bytes after = BYTES_NONE;
    bool more = true, good = true;
    arena_init_heap(&arena, 4096);
    while (good && more) {
        struct redis_pending pending[PAGE];
        size_t count = 0;
        good = list_pending(session, &after, &arena, pending, &count, &more, err) &&
               (count == 0 || read_pending(session, pending, count, err));
    }
    arena_free(&arena);
    return good;
}

/* ---- the living and the dead ---- */

/* Resets the idle time of our entries, without counting a delivery. */
static bool say_alive(struct redis_session *session, struct err *err) {
    struct arena arena;
    struct bytes *tags;
    arena_init_heap(&arena, 4096);
    size_t count = redis_inflight_tags(session->inflight, &arena, &tags);
    bool good = true;
    for (size_t done = 0; good && done < count; done += PAGE) {
        struct bytes words[6 + PAGE] = {BYTES("XCLAIM"), session->url->stream, session->url->group,
                                        session->consumer, BYTES("0")};
        size_t part = count - done < PAGE ? count - done : PAGE;
        memcpy(words + 5, tags + done, part * sizeof *tags);
        words[5 + part] = BYTES("JUSTID");
        redisReply *reply = redis_connection_ask(session->work, words, 6 + part, err);
        good = reply != NULL;
        if (reply)
            freeReplyObject(reply);
    }
    arena_free(&arena);
    return good;
}

/* One step over the pending entries of all consumers; `cursor` moves on, to 0-0 at the end. */
static bool claim_some(struct redis_session *session, char cursor[64], size_t *claimed,
                       struct err *err) {
    char idle[24], at_once[16];
    snprintf(idle, sizeof idle, "%lld", (long long)session->url->idle_ms);
    snprintf(at_once, sizeof at_once, "%d", CLAIM_AT_ONCE);
    struct bytes words[] = {BYTES("XAUTOCLAIM"), session->url->stream, session->url->group,
                            session->consumer,   bytes_of(idle),       bytes_of(cursor),
                            BYTES("COUNT"),      bytes_of(at_once),    BYTES("JUSTID")};
    redisReply *reply = redis_connection_ask(session->work, words, 9, err);
    if (!reply)
        return false;
    snprintf(cursor, 64, "0-0");
    if (reply->elements >= 2) {
        snprintf(cursor, 64, "%.*s", BYTES_ARG(redis_reply_text(reply->element[0])));
        *claimed += reply->element[1]->elements;
    }
    freeReplyObject(reply);
    return true;
}

/* Entries beyond the limit are claimed the next time. */
static bool take_over(struct redis_session *session, struct err *err) {
    char cursor[64] = "0-0";
    size_t known = redis_inflight_known(session->inflight), claimed = 0;
    do {
        if (known + claimed >= CLAIMED_MAX ||
            ahead_count(&session->inflight->ahead, claimed, known, CLAIM_AT_ONCE) == 0)
            break;
        if (!claim_some(session, cursor, &claimed, err))
            return false;
    } while (strcmp(cursor, "0-0") != 0);
    return claimed == 0 || recover(session, err);
}

static bool tend(struct redis_session *session, struct err *err) {
    return say_alive(session, err) && take_over(session, err);
}

/* ---- beginning ---- */

static bool make_group(struct redis_session *session, struct err *err) {
    struct bytes words[] = {BYTES("XGROUP"), BYTES("CREATE"), session->url->stream,
                            session->url->group, BYTES("0")};
    redis_connection_add(session->work, words, 5);
    if (redis_connection_send(session->work, err) != STATUS_OK)
        return false;
    redisReply *reply = redis_connection_read(session->work, REDIS_COMMAND_TIMEOUT_MS, err);
    if (!reply)
        return false;
    struct bytes said = redis_reply_text(reply);
    bool failed = reply->type == REDIS_REPLY_ERROR;
    if (failed && !bytes_starts(said, BYTES("BUSYGROUP")))
        return refuse(session, reply, err);
    if (!failed)
        log_info("redis stream %.*s: created consumer group %.*s, from the first entry on",
                 BYTES_ARG(session->url->stream), BYTES_ARG(session->url->group));
    freeReplyObject(reply);
    return true;
}

static bool present(struct redis_session *session, struct err *err) {
    return redis_connection_is(session->work, session->url->stream, "stream", "stream", err) ==
           STATUS_OK;
}

static bool begin(struct redis_session *session, struct err *err) {
    return make_group(session, err) && tend(session, err) && recover(session, err);
}

/* ---- fetching ---- */

static size_t ask(struct redis_session *session, size_t room) {
    char count[24], block[24];
    snprintf(count, sizeof count, "%zu", room);
    snprintf(block, sizeof block, "%d", REDIS_BLOCK_MS);
    struct bytes words[] = {BYTES("XREADGROUP"),  BYTES("GROUP"),  session->url->group,
                            session->consumer,    BYTES("COUNT"),  bytes_of(count),
                            BYTES("BLOCK"),       bytes_of(block), BYTES("STREAMS"),
                            session->url->stream, BYTES(">")};
    redis_connection_add(session->fetch, words, 11);
    return 1;
}

static bool take(struct redis_session *session, size_t which, const redisReply *reply,
                 struct err *err) {
    (void)which;
    if (reply->type == REDIS_REPLY_ERROR) {
        redis_connection_refused(session->fetch, reply, err);
        return false;
    }
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 1 ||
        !redis_reply_is_entry(reply->element[0]))
        return true; /* the wait has timed out */
    const redisReply *entries = reply->element[0]->element[1];
    for (size_t i = 0; i < entries->elements; i++) {
        if (!redis_reply_is_entry(entries->element[i]))
            continue;
        struct bytes tag = redis_reply_text(entries->element[i]->element[0]);
        if (!redis_inflight_knows(
                session->inflight,
                tag)) /* the consumer that claimed it has seen it delivered to us */
            add(session, tag, entries->element[i]->element[1], 1);
    }
    return true;
}

/* ---- letting go ---- */

static void settle(struct redis_session *session, struct redis_item *const *items, size_t count) {
    struct bytes words[3 + REDIS_AT_ONCE] = {BYTES("XACK"), session->url->stream,
                                             session->url->group};
    for (size_t i = 0; i < count; i++)
        words[3 + i] = items[i]->tag;
    redis_connection_add(session->work, words, 3 + count);
}

/* A stream takes nothing back: waiting entries stay pending under our name. */
static bool give_back(struct redis_session *session, size_t *count, struct err *err) {
    (void)session, (void)err;
    *count = 0;
    return true;
}

static bool recount(struct redis_session *session, struct err *err) {
    struct redis_recount counts[PAGE];
    struct arena arena;
    arena_init_heap(&arena, 4096);
    size_t count = redis_inflight_recount(session->inflight, &arena, counts, PAGE);
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%u", counts[i].deliveries);
        struct bytes words[] = {BYTES("XCLAIM"),     session->url->stream, session->url->group,
                                session->consumer,   BYTES("0"),           counts[i].tag,
                                BYTES("RETRYCOUNT"), bytes_of(number),     BYTES("JUSTID")};
        redisReply *reply = redis_connection_ask(session->work, words, 9, err);
        good = reply != NULL;
        if (reply)
            freeReplyObject(reply);
    }
    arena_free(&arena);
    return good;
}

/* ---- lag ---- */

static const redisReply *value_of(const redisReply *pairs, const char *name) {
    for (size_t i = 0; i + 1 < pairs->elements; i += 2)
        if (bytes_is(redis_reply_text(pairs->element[i]), name))
            return pairs->element[i + 1];
    return NULL;
}

/* The server may not know the lag (Redis before 7, deleted entries): then it is the whole stream,
 * unless the last entry was delivered to the group. */
static bool count_behind(struct redis_session *session, struct bytes given, uint64_t *out,
                         struct err *err) {
    struct bytes words[] = {BYTES("XINFO"), BYTES("STREAM"), session->url->stream};
    redisReply *reply = redis_connection_ask(session->work, words, 3, err);
    if (!reply)
        return false;
    const redisReply *last = value_of(reply, "last-generated-id");
    const redisReply *length = value_of(reply, "length");
    bool none = last && bytes_eq(redis_reply_text(last), given);
    *out = !none && length && length->type == REDIS_REPLY_INTEGER ? (uint64_t)length->integer : 0;
    freeReplyObject(reply);
    return true;
}

static struct bytes last_given(const struct redis_session *session, const redisReply *groups) {
    for (size_t i = 0; i < groups->elements; i++) {
        const redisReply *name = value_of(groups->element[i], "name");
        const redisReply *last = value_of(groups->element[i], "last-delivered-id");
        if (name && last && bytes_eq(redis_reply_text(name), session->url->group))
            return redis_reply_text(last);
    }
    return BYTES_NONE;
}

/* A number of the row of that name in what XINFO lists; false: it has none. */
static bool look_up(const redisReply *rows, struct bytes row, const char *number, uint64_t *out) {
    for (size_t i = 0; i < rows->elements; i++) {
        const redisReply *name = value_of(rows->element[i], "name");
        const redisReply *value = value_of(rows->element[i], number);
        if (!name || !value || !bytes_eq(redis_reply_text(name), row) ||
            value->type != REDIS_REPLY_INTEGER)
            continue;
        *out = (uint64_t)value->integer;
        return true;
    }
    return false;
}

/* What is pending under our name from before this process started. Without a group there is none.
 */
static bool add_pending(struct redis_session *session, uint64_t *sum, struct err *err) {
    struct bytes words[] = {BYTES("XINFO"), BYTES("CONSUMERS"), session->url->stream,
                            session->url->group};
    uint64_t pending = 0;
    redisReply *reply = redis_connection_ask(session->work, words, 4, err);
    if (!reply)
        return redis_connection_usable(session->work);
    if (look_up(reply, session->consumer, "pending", &pending))
        *sum += pending;
    freeReplyObject(reply);
    return true;
}

static bool lag(struct redis_session *session, uint64_t *out, struct err *err) {
    struct bytes words[] = {BYTES("XINFO"), BYTES("GROUPS"), session->url->stream};
    redisReply *reply = redis_connection_ask(session->work, words, 3, err);
    if (!reply)
        return false;
    bool known = look_up(reply, session->url->group, "lag", out) ||
                 count_behind(session, last_given(session, reply), out, err);
    freeReplyObject(reply);
    return known && (session->begun || add_pending(session, out, err));
}

const struct redis_shape redis_stream_shape = {
    .present = present,
    .begin = begin,
    .ask = ask,
    .take = take,
    .settle = settle,
    .settles = REDIS_AT_ONCE,
    .give_back = give_back,
    .recount = recount,
    .tend = tend,
    .lag = lag,
};
