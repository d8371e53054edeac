#include "server/http/events.h"

#include <assert.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/containers/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "server/http/loop.h"

enum { EVENTS_BLOCK = 4096 };

struct events {
    pthread_mutex_t mutex;
    pthread_cond_t ending;
    struct list listeners;
    size_t count;
    bool ended;
    pthread_t keeper;
};

struct events_listener {
    struct list link;
    struct events *events;
    struct MHD_Connection *connection;
    struct buf backlog;
    bool waiting; /* its connection is suspended */
    bool dropped;
};

/* ---- under the mutex ---- */

static void wake(struct events_listener *listener) {
    if (!listener->waiting)
        return;
    listener->waiting = false;
    loop_resume(listener->connection);
}

static void append(struct events_listener *listener, struct bytes text) {
    if (listener->dropped)
        return;
    buf_bytes(&listener->backlog, text);
    if (listener->backlog.overflow) {
        log_warn("events: a listener is more than %d bytes behind and is dropped",
                 EVENTS_BACKLOG_MAX);
        listener->dropped = true;
    }
    wake(listener);
}

static void append_all(struct events *events, struct bytes text) {
    LIST_EACH(node, &events->listeners) {
        append(CONTAINER_OF(node, struct events_listener, link), text);
    }
}

static size_t drain(struct buf *backlog, char *out, size_t max) {
    size_t len = backlog->len < max ? backlog->len : max;
    memcpy(out, backlog->ptr, len);
    memmove(backlog->ptr, backlog->ptr + len, backlog->len - len);
    backlog->len -= len;
    return len;
}

/* ---- the stream ---- */

static ssize_t read_some(void *arg, uint64_t position, char *out, size_t max) {
    (void)position;
    struct events_listener *listener = arg;
    struct events *events = listener->events;
    ssize_t len = 0;
    pthread_mutex_lock(&events->mutex);
    if (events->ended || listener->dropped) {
        len = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (listener->backlog.len > 0) {
        len = (ssize_t)drain(&listener->backlog, out, max);
    } else {
        listener->waiting = true;
        MHD_suspend_connection(listener->connection);
    }
    pthread_mutex_unlock(&events->mutex);
    return len;
}

struct MHD_Response *events_response(struct events_listener *listener,
                                     struct MHD_Connection *connection) {
    listener->connection = connection;
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, EVENTS_BLOCK, read_some, listener,
                                             NULL);
}

struct events_listener *events_join(struct events *events) {
    struct events_listener *listener = NULL;
    pthread_mutex_lock(&events->mutex);
    if (!events->ended && events->count < EVENTS_LISTENERS_MAX) {
        listener = memory_new(sizeof *listener);
        listener->events = events;
        buf_init_heap(&listener->backlog, EVENTS_BACKLOG_MAX);
        buf_str(&listener->backlog, ": listening\n\n");
        list_push_back(&events->listeners, &listener->link);
        events->count++;
    }
    pthread_mutex_unlock(&events->mutex);
    return listener;
}

void events_leave(struct events *events, struct events_listener *listener) {
    if (!listener)
        return;
    pthread_mutex_lock(&events->mutex);
    assert(!listener->waiting && events->count > 0);
    list_remove(&listener->link);
    events->count--;
    pthread_mutex_unlock(&events->mutex);
    buf_free(&listener->backlog);
    free(listener);
}

void events_publish(struct events *events, const char *type, struct bytes json) {
    struct buf text;
    buf_init_heap(&text, EVENTS_BACKLOG_MAX);
    buf_printf(&text, "event: %s\ndata: ", type);
    buf_bytes(&text, json);
    buf_str(&text, "\n\n");
    if (!text.overflow) {
        pthread_mutex_lock(&events->mutex);
        append_all(events, buf_view(&text));
        pthread_mutex_unlock(&events->mutex);
    }
    buf_free(&text);
}

/* ---- keep-alive ---- */

/* A comment at intervals keeps proxies from closing the stream, and detects clients that have
 * disconnected, which is not noticed while the connection is suspended. */
static void *keep_alive(void *arg) {
    struct events *events = arg;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    pthread_mutex_lock(&events->mutex);
    while (!events->ended) {
        until.tv_sec += EVENTS_KEEP_ALIVE_MS / 1000;
        while (!events->ended &&
               pthread_cond_timedwait(&events->ending, &events->mutex, &until) == 0) {
        }
        append_all(events, BYTES(": keep-alive\n\n"));
    }
    pthread_mutex_unlock(&events->mutex);
    return NULL;
}

struct events *events_new(void) {
    struct events *events = memory_new(sizeof *events);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&events->mutex, NULL);
    pthread_cond_init(&events->ending, &monotonic);
    pthread_condattr_destroy(&monotonic);
    list_init(&events->listeners);
    thread_start(&events->keeper, "http-events", keep_alive, events);
    return events;
}

void events_end(struct events *events) {
    pthread_mutex_lock(&events->mutex);
    events->ended = true;
    pthread_cond_broadcast(&events->ending);
    LIST_EACH(node, &events->listeners) {
        wake(CONTAINER_OF(node, struct events_listener, link));
    }
    pthread_mutex_unlock(&events->mutex);
}

void events_free(struct events *events) {
    if (!events)
        return;
    assert(events->ended && list_empty(&events->listeners));
    pthread_join(events->keeper, NULL);
    pthread_cond_destroy(&events->ending);
    pthread_mutex_destroy(&events->mutex);
    free(events);
}
