/* Messages of a broker through the engine and a C function that does nothing, or through the client
 * library alone:
 *
 *   broker impound URL COUNT FOLDER     engine, store and adapter, in this process
 *   broker alone URL COUNT              fetch and acknowledge in the same portions, and nothing
 * else
 *
 * Prints messages/s from the first one to the last acknowledged one. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/sources.h"
#include "base/thread.h"
#include "broker/redis_connection.h"
#include "engine/engine.h"
#include "handler/callback.h"
#include "store/disk_posix.h"
#include "store/sqlite/sqlite_store.h"

enum { CONCURRENCY = 1000, AT_ONCE = 256, LOOK_US = 1000 };

static atomic_size_t handled;
static struct handler *handler;

static void do_nothing(void *arg, const struct callback_call *call) {
    static const struct outcome ok = {.ending = ENDING_OK, .retry_after_ms = -1};
    (void)arg;
    callback_complete(handler, call->token, &ok);
    atomic_fetch_add(&handled, 1);
}

/* As a handler outside the process would be: its messages are not put into the store first. */
static void make_handler(void) {
    static struct handler_vtable outside;
    struct callback_options options = {.run = do_nothing, .threads = 1, .clock = &clock_system};
    handler = callback_new(&options);
    outside = *handler->vtable;
    outside.in_process = false;
    handler->vtable = &outside;
}

static void *run_engine(void *arg) {
    engine_run(arg);
    return NULL;
}

static void report(size_t count, struct mono start) {
    int64_t ms = clock_now(&clock_system).mono.ms - start.ms;
    printf("%.0f\n", (double)count * 1000 / (double)(ms > 0 ? ms : 1));
}

static void die(const struct err *err) {
    fprintf(stderr, "broker: %s\n", err->text);
    exit(1);
}

static void through_impound(const char *url, size_t count, const char *folder) {
    struct err err = {STATUS_OK, ""};
    char path[4096];
    snprintf(path, sizeof path, "%s/impound.db", folder);
    struct sqlite_store_options store_options = {
        .path = path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    struct store *store;
    if (sqlite_store_open(&store_options, &store, &err) != STATUS_OK)
        die(&err);
    struct broker_options broker_options = {.url = bytes_of(url),
                                            .queue = BYTES("bench"),
                                            .instance = BYTES("bench"),
                                            .clock = &clock_system,
                                            .max_body = 4 << 20};
    if (sources_check(broker_options.url, &err) != STATUS_OK)
        die(&err);
    struct policy policy;
    policy_init(&policy, BYTES("bench"), BYTES("bench.dlq"), HANDLER_HTTP);
    struct engine_dlq dlq = {.name = BYTES("bench.dlq"), .cap = 1000};
    make_handler();
    struct engine_handler handlers[] = {{.handler = handler, .batch = 1}};
    struct engine_options options = {.store = store, .clock = &clock_system, .seed = 1};
    struct engine *engine = engine_new(&options);
    struct broker *broker = sources_new(&broker_options);
    struct engine_queue_options queue = {
        .name = BYTES("bench"),
        .rules = {.policy = &policy, .concurrency = CONCURRENCY, .dlqs = &dlq, .dlq_count = 1},
        .broker = broker,
        .handlers = handlers,
        .handler_count = 1};
    if (engine_add(engine, &queue, &err) != STATUS_OK || engine_recover(engine, &err) != STATUS_OK)
        die(&err);
    pthread_t thread;
    struct mono start = clock_now(&clock_system).mono;
    thread_start(&thread, "engine", run_engine, engine);
    while (atomic_load(&handled) < count)
        usleep(LOOK_US);
    engine_hold(engine, 1000);
    engine_stop(engine);
    pthread_join(thread, NULL);
    broker->vtable->free(broker); /* everything settled is acknowledged */
    report(count, start);
    store->vtable->close(store);
    engine_free(engine);
    handler->vtable->free(handler);
}

/* ---- alone ---- */

#ifdef IMPOUND_REDIS
static redisReply *ask(struct redis_connection *connection, const struct bytes *words,
                       size_t count) {
    struct err err = {STATUS_OK, ""};
    redisReply *reply = redis_connection_ask(connection, words, count, &err);
    if (!reply)
        die(&err);
    return reply;
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
    struct err err = {STATUS_OK, ""};
    struct bytes move[] = {BYTES("LMOVE"), url->list, BYTES("alone"), BYTES("RIGHT"),
                           BYTES("LEFT")};
    redisReply *replies[AT_ONCE];
    size_t got = 0;
    for (size_t i = 0; i < AT_ONCE; i++)
        redis_connection_add(connection, move, 5);
    if (redis_connection_send(connection, &err) != STATUS_OK)
        die(&err);
    for (size_t i = 0; i < AT_ONCE; i++)
        if (!(replies[i] = redis_connection_read(connection, REDIS_COMMAND_TIMEOUT_MS, &err)))
            die(&err);
    for (size_t i = 0; i < AT_ONCE; i++) {
        struct bytes body = {replies[i]->str, replies[i]->str ? (size_t)replies[i]->len : 0};
        got += replies[i]->str != NULL;
        redis_connection_add(connection,
                             (struct bytes[]){BYTES("LREM"), BYTES("alone"), BYTES("-1"), body}, 4);
    }
    if (redis_connection_send(connection, &err) != STATUS_OK)
        die(&err);
    for (size_t i = 0; i < AT_ONCE; i++) {
        redisReply *reply = redis_connection_read(connection, REDIS_COMMAND_TIMEOUT_MS, &err);
        if (!reply)
            die(&err);
        freeReplyObject(reply);
        freeReplyObject(replies[i]);
    }
    return got;
}

static void alone(const char *text, size_t count) {
    struct err err = {STATUS_OK, ""};
    struct redis_url url;
    struct arena arena;
    arena_init_heap(&arena, 512);
    if (redis_url_source(bytes_of(text), &arena, &url, &err) != STATUS_OK)
        die(&err);
    struct redis_connection *connection = redis_connection_open(&url, &clock_system, &err);
    if (!connection)
        die(&err);
    struct mono start = clock_now(&clock_system).mono;
    for (size_t done = 0; done < count;)
        done += url.list.len ? consume_list(connection, &url) : consume_stream(connection, &url);
    report(count, start);
    redis_connection_free(connection);
    arena_free(&arena);
}
#else
static void alone(const char *text, size_t count) {
    struct err err;
    (void)text, (void)count;
    err_set(&err, STATUS_NOT_YET, "this build has no hiredis");
    die(&err);
}
#endif

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "impound") == 0)
        through_impound(argv[2], strtoul(argv[3], NULL, 10), argv[4]);
    else if (argc == 4 && strcmp(argv[1], "alone") == 0)
        alone(argv[2], strtoul(argv[3], NULL, 10));
    else
        return 2;
    return 0;
}
