#include "server/server.h"

#include <assert.h>
#include <microhttpd.h>
#include <sodium.h>
#include <stdlib.h>
#include <time.h>

#include "base/log.h"
#include "base/memory.h"
#include "server/http/intake.h"
#include "server/http/listener.h"
#include "server/http/loop.h"
#include "server/http/request.h"
#include "server/server_state.h"

enum {
    SERVER_CONNECTIONS_MAX = 8192, /* further clients wait in the listen backlog */
    SERVER_IDLE_MS = 30 * 1000,    /* an idle connection is closed after this time */
    SERVER_LATER_S = 1,            /* libmicrohttpd's timeout exceeds the one of loop.h by this */
    /* Memory of a connection for its head and libmicrohttpd's records of it. Twice
     * REQUEST_HEAD_MAX, so that the limits of request.h apply first; libmicrohttpd itself refuses a
     * head that does not fit. */
    SERVER_HEAD_MEMORY = 2 * REQUEST_HEAD_MAX,
    SERVER_STOP_GRACE_S = 5, /* for answers that are being sent when the server stops */
};

__attribute__((format(printf, 2, 0))) static void log_mhd(void *arg, const char *format,
                                                          va_list args) {
    (void)arg;
    char text[256];
    vsnprintf(text, sizeof text, format, args);
    log_debug("http: %s", text);
}

/* The listener enforces the limit of connections; libmicrohttpd's own limit is never reached. */
static struct MHD_Daemon *start_daemon(void *arg, struct loop *loop) {
    struct server *server = arg;
    return MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ERROR_LOG, 0,
        NULL, NULL, intake_access, server, MHD_OPTION_EXTERNAL_LOGGER, log_mhd, NULL,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)(SERVER_CONNECTIONS_MAX + 1),
        MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)(server->options.idle_ms + 999) / 1000 + SERVER_LATER_S,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)SERVER_HEAD_MEMORY, MHD_OPTION_NOTIFY_COMPLETED,
        intake_completed, server, MHD_OPTION_NOTIFY_CONNECTION, loop_notify, loop,
        MHD_OPTION_URI_LOG_CALLBACK, intake_target, server, MHD_OPTION_UNESCAPE_CALLBACK,
        intake_unescape, server, MHD_OPTION_END);
}

static bool start_loops(struct server *server) {
    struct loop_options options = {.make = start_daemon,
                                   .arg = server,
                                   .connections = &server->connections,
                                   .clock = server->options.clock,
                                   .idle_ms = server->options.idle_ms};
    for (size_t i = 0; i < SERVER_THREADS; i++)
        if (!(server->loops[i] = loop_start(&options)))
            return false;
    return true;
}

static void stop_loops(struct server *server) {
    for (size_t i = 0; i < SERVER_THREADS; i++)
        loop_stop(server->loops[i]);
}

static void hand_over(void *arg, int fd) {
    struct server *server = arg;
    loop_add(server->loops[server->next_loop++ % SERVER_THREADS], fd);
}

static struct server *make(const struct server_options *options) {
    struct server *server = memory_new(sizeof *server);
    pthread_condattr_t monotonic;
    server->options = *options;
    server->host = bytes_dup(bytes_of(options->host));
    server->options.host = server->host;
    if (options->idle_ms == 0)
        server->options.idle_ms = SERVER_IDLE_MS;
    pthread_mutex_init(&server->mutex, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&server->fewer, &monotonic);
    pthread_condattr_destroy(&monotonic);
    rng_seed(&server->rng, options->seed);
    server->began = clock_began(options->clock);
    server->workers = workers_new();
    server->events = events_new();
    server->queues = queue_index_new(options->engine, options->store);
    server->reasons = metrics_reasons_new();
    return server;
}

static void unmake(struct server *server) {
    workers_free(server->workers);
    queue_index_free(server->queues);
    events_end(server->events);
    events_free(server->events);
    metrics_reasons_free(server->reasons);
    pthread_cond_destroy(&server->fewer);
    pthread_mutex_destroy(&server->mutex);
    free(server->host);
    free(server);
}

enum status server_start(const struct server_options *options, struct server **out,
                         struct err *err) {
    struct listener *listener;
    if (sodium_init() < 0)
        return err_set(err, STATUS_INTERNAL, "libsodium does not start");
    enum status status = listener_new(options->host, options->port, &listener, err);
    if (status != STATUS_OK)
        return status;
    struct server *server = make(options);
    server->listener = listener;
    if (!start_loops(server)) {
        listener_free(listener);
        stop_loops(server);
        unmake(server);
        return err_set(err, STATUS_INTERNAL, "libmicrohttpd does not start");
    }
    listener_start(listener, &(struct listener_options){.hand_over = hand_over,
                                                        .arg = server,
                                                        .connections_max = SERVER_CONNECTIONS_MAX,
                                                        .connections = &server->connections});
    *out = server;
    return STATUS_OK;
}

uint16_t server_port(const struct server *server) {
    return listener_port(server->listener);
}

void server_publish(struct server *server, const struct engine_event *event) {
    events_publish(server->events, event->type, event->json);
}

/* Gives requests in progress some time to finish; then waits for suspended requests without a
 * limit, because each of them is certain to be answered and the loops must not stop before. */
static void wait_for_requests(struct server *server) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += SERVER_STOP_GRACE_S;
    pthread_mutex_lock(&server->mutex);
    while (server->active > 0 &&
           pthread_cond_timedwait(&server->fewer, &server->mutex, &until) == 0) {
    }
    server->closing = true;
    while (server->suspended > 0)
        pthread_cond_wait(&server->fewer, &server->mutex);
    pthread_mutex_unlock(&server->mutex);
}

void server_stop(struct server *server) {
    if (!server)
        return;
    listener_free(server->listener);
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_mutex_unlock(&server->mutex);
    events_end(server->events);
    wait_for_requests(server);
    stop_loops(server);
    assert(server->active == 0 && atomic_load(&server->connections) == 0);
    unmake(server);
}
