/* callback: a queue of jobs and a fixed number of threads. `mutex` guards everything except the
 * call of the user's function and of `done`, which are made without it. */
#include "handler/callback/callback.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/containers/list.h"
#include "base/containers/map.h"
#include "base/memory.h"
#include "base/thread/thread.h"

/*   start ─▶ waiting ─▶ inside the function ─▶ detached (on no thread)
 *               ▲              │                   │     │
 *               │              └─── complete ──────┤     │
 *               │                                  ▼     │
 *               │                                ended   │
 *               └──────────────── cancel ────────────────┘
 *
 * A cancelled job is ended by a handler thread: when the thread takes it from the queue, or, if the
 * function returned without completing it, because cancel puts it back into the queue. A job inside
 * the function ends at the latest when the function returns. */
struct callback_job {
    struct list link; /* in `waiting` or `spare` */
    struct map_node by_token;
    struct callback_call call;
    struct call *owner;
    struct mono started;
    bool inside;    /* a thread is in the function with it */
    bool ended;     /* `done` was called; `owner` must not be used */
    bool cancelled; /* it is to end soon */
};

struct callback {
    struct handler handler;
    struct callback_options options;
    pthread_mutex_t mutex;
    pthread_cond_t filled;
    struct list waiting;
    size_t asleep;       /* threads waiting for `filled` … */
    size_t lying;        /* … and jobs for which none of them was woken yet */
    struct list spare;   /* free jobs; they are reused, and freed with the handler */
    struct map by_token; /* jobs that have not ended */
    uint64_t next_token;
    struct mono started; /* start time of the unwoken jobs, read once for all of them */
    bool closing;
    pthread_t *threads;
};

static struct callback *self(struct handler *handler) {
    return CONTAINER_OF(handler, struct callback, handler);
}

static struct callback_job *find_token(const struct callback *callback, uint64_t token) {
    struct map_node *node = map_first(&callback->by_token, token);
    return node ? CONTAINER_OF(node, struct callback_job, by_token) : NULL;
}

/* An ended job may have been reused for another call, but its memory is still valid. */
static struct callback_job *find_call(const struct call *call) {
    struct callback_job *job = call->mark;
    return job && job->owner == call && !job->ended ? job : NULL;
}

/* ---- jobs; the mutex is held ---- */

static struct callback_job *take_job(struct callback *callback) {
    struct list *spare = list_pop_front(&callback->spare);
    struct callback_job *job =
        spare ? CONTAINER_OF(spare, struct callback_job, link) : memory_new(sizeof *job);
    *job = (struct callback_job){.owner = NULL};
    list_init(&job->link);
    return job;
}

static void put_back(struct callback *callback, struct callback_job *job) {
    assert(job->ended && !job->inside);
    list_push_front(&callback->spare, &job->link);
}

/* ---- ending ---- */

/* Ends the job: nothing finds it any more, and the caller calls its owner's `done`. Called with the
 * mutex. */
static struct call *claim_end(struct callback *callback, struct callback_job *job) {
    assert(!job->ended);
    job->ended = true;
    list_remove(&job->link);
    map_remove(&callback->by_token, &job->by_token);
    return job->owner;
}

static void call_done(struct callback *callback, struct call *owner, struct mono started,
                      const struct outcome *outcome) {
    struct outcome timed = *outcome;
    timed.duration_ms = clock_now(callback->options.clock).mono.ms - started.ms;
    owner->done(owner, &timed);
}

/* ---- the threads ---- */

static void interrupt(struct callback *callback, struct callback_job *job) {
    static const struct outcome interrupted = {.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    struct call *owner = claim_end(callback, job);
    pthread_mutex_unlock(&callback->mutex);
    call_done(callback, owner, job->started, &interrupted);
    pthread_mutex_lock(&callback->mutex);
    put_back(callback, job);
}

static void run(struct callback *callback, struct callback_job *job) {
    assert(!job->inside && !job->ended);
    job->inside = true;
    pthread_mutex_unlock(&callback->mutex);
    callback->options.run(callback->options.arg, &job->call);
    pthread_mutex_lock(&callback->mutex);
    job->inside = false;
    if (job->ended)
        put_back(callback, job);
    else if (job->cancelled)
        interrupt(callback, job);
}

static void *work(void *arg) {
    struct callback *callback = arg;
    pthread_mutex_lock(&callback->mutex);
    for (;;) {
        struct list *node = list_pop_front(&callback->waiting);
        if (!node && callback->closing)
            break;
        if (!node) {
            callback->asleep++;
            pthread_cond_wait(&callback->filled, &callback->mutex);
            callback->asleep--;
            continue;
        }
        struct callback_job *job = CONTAINER_OF(node, struct callback_job, link);
        if (job->cancelled)
            interrupt(callback, job);
        else
            run(callback, job);
    }
    pthread_mutex_unlock(&callback->mutex);
    return NULL;
}

/* ---- the port ---- */

static void start(struct handler *handler, struct call *call) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    struct callback_job *job = take_job(callback);
    if (callback->lying++ == 0)
        callback->started = clock_now(callback->options.clock).mono;
    job->owner = call;
    job->started = callback->started;
    job->call = (struct callback_call){call, callback->next_token++};
    call->mark = job;
    map_insert(&callback->by_token, &job->by_token, job->call.token);
    list_push_back(&callback->waiting, &job->link);
    pthread_mutex_unlock(&callback->mutex);
}

/* A thread that is awake takes more jobs before it sleeps. */
static void rouse(struct handler *handler) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    size_t needed = callback->lying < callback->asleep ? callback->lying : callback->asleep;
    callback->lying = 0;
    pthread_mutex_unlock(&callback->mutex);
    while (needed-- > 0)
        pthread_cond_signal(&callback->filled);
}

static void cancel(struct handler *handler, struct call *call) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    struct callback_job *job = find_call(call);
    if (job && !job->cancelled) {
        job->cancelled = true;
        if (!job->inside && list_empty(&job->link)) {
            list_push_back(&callback->waiting, &job->link);
            pthread_cond_signal(&callback->filled);
        }
    }
    pthread_mutex_unlock(&callback->mutex);
}

bool callback_complete(struct handler *handler, uint64_t token, const struct outcome *outcome) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    struct callback_job *job = find_token(callback, token);
    struct call *owner = job ? claim_end(callback, job) : NULL;
    struct mono started = job ? job->started : (struct mono){0};
    if (job && !job->inside)
        put_back(callback, job);
    pthread_mutex_unlock(&callback->mutex);
    if (owner)
        call_done(callback, owner, started, outcome);
    return owner != NULL;
}

bool callback_cancelled(struct handler *handler, uint64_t token) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    const struct callback_job *job = find_token(callback, token);
    bool cancelled = job && job->cancelled;
    pthread_mutex_unlock(&callback->mutex);
    return cancelled;
}

static void callback_free(struct handler *handler) {
    struct callback *callback = self(handler);
    pthread_mutex_lock(&callback->mutex);
    callback->closing = true;
    pthread_cond_broadcast(&callback->filled);
    pthread_mutex_unlock(&callback->mutex);
    for (size_t i = 0; i < callback->options.threads; i++)
        pthread_join(callback->threads[i], NULL);
    assert(callback->by_token.count == 0);
    map_free(&callback->by_token);
    for (struct list *spare; (spare = list_pop_front(&callback->spare));)
        free(CONTAINER_OF(spare, struct callback_job, link));
    pthread_cond_destroy(&callback->filled);
    pthread_mutex_destroy(&callback->mutex);
    free(callback->threads);
    free(callback);
}

static const struct handler_vtable callback_vtable = {.kind = "callback",
                                                      .in_process = true,
                                                      .start = start,
                                                      .rouse = rouse,
                                                      .cancel = cancel,
                                                      .free = callback_free};

struct handler *callback_new(const struct callback_options *options) {
    assert(options->run && options->threads > 0);
    struct callback *callback = memory_new(sizeof *callback);
    callback->handler.vtable = &callback_vtable;
    callback->options = *options;
    callback->next_token = options->first_token;
    list_init(&callback->waiting);
    list_init(&callback->spare);
    pthread_mutex_init(&callback->mutex, NULL);
    pthread_cond_init(&callback->filled, NULL);
    callback->threads = memory_array(options->threads, sizeof *callback->threads);
    for (size_t i = 0; i < options->threads; i++)
        thread_start(&callback->threads[i], "callback", work, callback);
    return &callback->handler;
}
