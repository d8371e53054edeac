#include "alone.h"

#include "broker/redis/redis_connection.h"

enum { AT_ONCE = 256 };

static redisReply *read_reply(struct redis_connection *connection) {
    struct err err = {STATUS_OK, ""};
    redisReply *reply = redis_connection_read(connection, REDIS_COMMAND_TIMEOUT_MS, &err);
    if (!reply)
        alone_die(err.text);
    return reply;
}

static void send_all(struct redis_connection *connection) {
    struct err err = {STATUS_OK, ""};
    if (redis_connection_send(connection, &err) != STATUS_OK)
        alone_die(err.text);
}

static redisReply *ask(struct redis_connection *connection, const struct bytes *words,
                       size_t count) {
    redis_connection_add(connection, words, count);
    send_all(connection);
    return read_reply(connection);
}

static size_t consume_stream(struct redis_connection *connection, const struct redis_url *url) {
    struct bytes fetch[] = {BYTES("XREADGROUP"), BYTES("GROUP"), url->group,
                            BYTES("alone"),      BYTES("COUNT"), BYTES("256"),
                            BYTES("STREAMS"),    url->stream,    BYTES(">")};
    struct bytes settle[3 + AT_ONCE] = {BYTES("XACK"), url->stream, url->group};
    redisReply *reply = ask(connection, fetch, sizeof fetch / sizeof *fetch);
    size_t got = 0;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 1) {
        const redisReply *entries = reply->element[0]->element[1];
        for (; got < entries->elements; got++)
            settle[3 + got] = bytes_of(entries->element[got]->element[0]->str);
        freeReplyObject(ask(connection, settle, 3 + got));
    }
    freeReplyObject(reply);
    return got;
}

/* A reliable queue as it is mostly done: LMOVE to another list, then LREM. */
static size_t consume_list(struct redis_connection *connection, const struct redis_url *url) {
    struct bytes move[] = {BYTES("LMOVE"), url->list, BYTES("alone"), BYTES("RIGHT"),
                           BYTES("LEFT")};
    redisReply *replies[AT_ONCE];
    size_t got = 0;
    for (size_t i = 0; i < AT_ONCE; i++)
        redis_connection_add(connection, move, 5);
    send_all(connection);
    for (size_t i = 0; i < AT_ONCE; i++)
        replies[i] = read_reply(connection);
    for (size_t i = 0; i < AT_ONCE; i++) {
        struct bytes body = {replies[i]->str, replies[i]->str ? (size_t)replies[i]->len : 0};
        got += replies[i]->str != NULL;
        redis_connection_add(connection,
                             (struct bytes[]){BYTES("LREM"), BYTES("alone"), BYTES("-1"), body}, 4);
    }
    send_all(connection);
    for (size_t i = 0; i < AT_ONCE; i++) {
        freeReplyObject(read_reply(connection));
        freeReplyObject(replies[i]);
    }
    return got;
}

struct alone_stretch alone_redis(const char *text, size_t count) {
    struct err err = {STATUS_OK, ""};
    struct redis_url url;
    struct arena arena;
    arena_init_heap(&arena, URL_TEXT_MAX);
    if (redis_url_source(bytes_of(text), &arena, &url, &err) != STATUS_OK)
        alone_die(err.text);
    struct redis_connection *connection = redis_connection_open(&url, &clock_system, &err);
    if (!connection)
        alone_die(err.text);
    struct alone_stretch stretch = {.first = alone_now()};
    for (size_t done = 0; done < count;)
        done += url.list.len ? consume_list(connection, &url) : consume_stream(connection, &url);
    stretch.last = alone_now();
    redis_connection_free(connection);
    arena_free(&arena);
    return stretch;
}
