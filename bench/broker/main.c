/* Messages of a broker through the engine and a C function that does nothing, or through the client
 * library alone:
 *
 *   broker impound URL COUNT FOLDER     engine, store and adapter, in this process
 *   broker alone URL COUNT              fetch and acknowledge in the same portions, no more
 *
 * Prints messages/s from the first one to the last settled one; at the end all are acknowledged. */
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alone.h"
#include "broker/sources.h"
#include "base/thread/thread.h"
#include "engine/engine.h"
#include "handler/callback/callback.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"

enum { CONCURRENCY = 1000 };

static size_t to_handle;  /* by the handler's only thread … */
static sem_t all_handled; /* … which says so: who looks now and then takes part of the machine */
static struct mono first; /* when the first one was handled */
static struct handler *handler;

static void do_nothing(void *arg, const struct callback_call *call) {
    static const struct outcome ok = {.ending = ENDING_OK, .retry_after_ms = -1};
    (void)arg;
    if (!first.ms)
        first = alone_now();
    callback_complete(handler, call->token, &ok);
    if (--to_handle == 0)
        sem_post(&all_handled);
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

static void report(size_t count, struct mono start, struct mono end) {
    int64_t ms = end.ms - start.ms;
    printf("%.0f\n", (double)count * 1000 / (double)(ms > 0 ? ms : 1));
}

static void through_impound(const char *url, size_t count, const char *folder) {
    struct err err = {STATUS_OK, ""};
    char path[4096];
    snprintf(path, sizeof path, "%s/impound.db", folder);
    struct sqlite_store_options store_options = {
        .path = path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    struct store *store;
    if (sqlite_store_open(&store_options, &store, &err) != STATUS_OK)
        alone_die(err.text);
    struct broker_options broker_options = {.url = bytes_of(url),
                                            .queue = BYTES("bench"),
                                            .instance = BYTES("bench"),
                                            .clock = &clock_system,
                                            .max_body = 4 << 20};
    if (sources_check(broker_options.url, &err) != STATUS_OK)
        alone_die(err.text);
    struct policy policy;
    policy_init(&policy, BYTES("bench"), BYTES("bench.dlq"), HANDLER_HTTP);
    struct engine_dlq dlq = {.name = BYTES("bench.dlq"), .cap = 1000};
    to_handle = count;
    sem_init(&all_handled, 0, 0);
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
        alone_die(err.text);
    pthread_t thread;
    thread_start(&thread, "engine", run_engine, engine);
    while (sem_wait(&all_handled) != 0)
        continue;
    engine_hold(engine, 1000);
    engine_stop(engine);
    pthread_join(thread, NULL);
    report(count, first, alone_now());
    broker->vtable->free(broker); /* everything settled is acknowledged */
    store->vtable->close(store);
    engine_free(engine);
    handler->vtable->free(handler);
}

/* ---- alone ---- */

/* A library that this build leaves out has no function. */
static const struct {
    const char *scheme;
    struct alone_stretch (*consume)(const char *url, size_t count);
} libraries[] = {
#ifdef IMPOUND_REDIS
    {"redis://", alone_redis},
#endif
#ifdef IMPOUND_RABBITMQ
    {"amqp://", alone_rabbit},
#endif
#ifdef IMPOUND_NATS
    {"nats://", alone_nats},
#endif
#ifdef IMPOUND_KAFKA
    {"kafka://", alone_kafka},
#endif
    {NULL, NULL},
};

struct mono alone_now(void) {
    return clock_now(&clock_system).mono;
}

void alone_die(const char *words) {
    fprintf(stderr, "broker: %s\n", words);
    exit(1);
}

static void alone(const char *url, size_t count) {
    for (size_t i = 0; libraries[i].scheme; i++) {
        if (!bytes_starts(bytes_of(url), bytes_of(libraries[i].scheme)))
            continue;
        struct alone_stretch stretch = libraries[i].consume(url, count);
        report(count, stretch.first, stretch.last);
        return;
    }
    alone_die("this build has no library for it");
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "impound") == 0)
        through_impound(argv[2], strtoul(argv[3], NULL, 10), argv[4]);
    else if (argc == 4 && strcmp(argv[1], "alone") == 0)
        alone(argv[2], strtoul(argv[3], NULL, 10));
    else
        return 2;
    return 0;
}
