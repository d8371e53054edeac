/* A Redis server of its own, in a folder of its own; SUBJECT_STREAM: a stream, else a list. */
#include "test.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>

#include "broker/redis/redis_peek.h"
#include "broker/redis/redis_source.h"
#include "broker_server.h"
#include "broker_subject.h"

static redisContext *client;
static unsigned lane;

static bool answers(void) {
    client = redisConnect("127.0.0.1", atoi(broker_server_port()));
    redisReply *reply = client->err ? NULL : redisCommand(client, "PING");
    bool up = reply && reply->type == REDIS_REPLY_STATUS;
    if (reply)
        freeReplyObject(reply);
    if (!up)
        redisFree(client);
    return up;
}

static void run(void) {
    const char *const command[] = {"redis-server",
                                   "--port",
                                   broker_server_port(),
                                   "--bind",
                                   "127.0.0.1",
                                   "--dir",
                                   broker_server_folder(),
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "yes",
                                   "--appendfsync",
                                   "always",
                                   "--logfile",
                                   "redis.log",
                                   NULL};
    broker_server_run(command, answers);
}

static void sever(void) {
    redisFree(client);
    client = NULL;
    broker_server_kill();
}

static bool start(void) {
    if (!broker_server_prepare("redis-server"))
        return false;
    run();
    return true;
}

static void stop(void) {
    sever();
    broker_server_clean();
}

/* ---- one lane ---- */

static long long number(redisReply *reply) {
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s", reply->str);
    long long value = reply->integer;
    freeReplyObject(reply);
    return value;
}

#ifdef SUBJECT_STREAM
static void next(void) {
    number(redisCommand(client, "XGROUP CREATE lane%u g 0 MKSTREAM", ++lane));
}

static void push(struct bytes body) {
    number(redisCommand(client, "XADD lane%u * body %b", lane, body.ptr, body.len));
}

/* Entries that are neither delivered nor acknowledged, by the group's last one and its pending. */
static size_t left(void) {
    static const char script[] =
        "local group = redis.call('XINFO', 'GROUPS', KEYS[1])[1] "
        "local facts = {} for i = 1, #group, 2 do facts[group[i]] = group[i + 1] end "
        "local behind = redis.call('XRANGE', KEYS[1], '(' .. facts['last-delivered-id'], '+') "
        "return facts['pending'] + #behind";
    return (size_t)number(redisCommand(client, "EVAL %s 1 lane%u", script, lane));
}

#define QUERY "stream=lane%u&group=g"
#define LOOK  .look_names = true, .look_all = true
#else
static void next(void) {
    lane++;
}

static void push(struct bytes body) {
    number(redisCommand(client, "LPUSH lane%u %b", lane, body.ptr, body.len));
}

static size_t left(void) {
    static const char script[] =
        "local count = redis.call('LLEN', KEYS[1]) "
        "for _, hash in ipairs(redis.call('KEYS', KEYS[1] .. ':impound:*')) do "
        "  count = count + redis.call('HLEN', hash) end return count";
    return (size_t)number(redisCommand(client, "EVAL %s 1 lane%u", script, lane));
}

#define QUERY "list=lane%u"
#define LOOK  .look_names = false /* an element has a name once it is taken */
#endif

static void url(char *out, size_t size) {
    snprintf(out, size, "redis://127.0.0.1:%s/0?" QUERY, broker_server_port(), lane);
}

const struct broker_subject broker_subject = {
    .kind = "redis",
    .start = start,
    .stop = stop,
    .next = next,
    .url = url,
    .check = redis_source_check,
    .source = redis_source_new,
    .peek = redis_peek_new,
    LOOK,
    .push = push,
    .left = left,
    .sever = sever,
    .heal = run,
};
