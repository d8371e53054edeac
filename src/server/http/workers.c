#include "server/http/workers.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread/thread.h"
#include "server/http/request.h"

static const struct {
    const char *text;
    const char *thread;
    size_t threads, waiting_max;
} lanes[WORKERS_LANES] = {
    [WORKERS_HEALTH] = {"health", "http-health", WORKERS_HEALTH_THREADS,
                        WORKERS_HEALTH_WAITING_MAX},
    [WORKERS_QUICK] = {"quick", "http-worker", WORKERS_QUICK_THREADS, WORKERS_QUICK_WAITING_MAX},
    [WORKERS_SLOW] = {"slow", "http-slow", WORKERS_SLOW_THREADS, WORKERS_SLOW_WAITING_MAX},
};

struct worker_lane {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct list waiting;
    size_t waiting_count, running;
    bool ending;
    pthread_t threads[WORKERS_THREADS_MAX];
};

struct workers {
    struct worker_lane lanes[WORKERS_LANES];
};

static enum workers_lane paged_queue_of(const struct request *request) {
    switch (request->route->how) {
    case ROUTE_HEALTH:
        return WORKERS_HEALTH;
    case ROUTE_SLOW:
    case ROUTE_BULK:
        return WORKERS_SLOW;
    case ROUTE_AT_ONCE:
    case ROUTE_WORKER:
    case ROUTE_AWAITS:
        break;
    }
    return WORKERS_QUICK;
}

/* The next request, or NULL when the lane is ending. */
static struct request *next_request(struct worker_lane *lane, bool *busy) {
    pthread_mutex_lock(&lane->mutex);
    lane->running -= *busy;
    while (list_empty(&lane->waiting) && !lane->ending)
        pthread_cond_wait(&lane->more, &lane->mutex);
    struct list *node = list_pop_front(&lane->waiting);
    *busy = node != NULL;
    lane->waiting_count -= *busy;
    lane->running += *busy;
    pthread_mutex_unlock(&lane->mutex);
    return node ? CONTAINER_OF(node, struct request, link) : NULL;
}

static void *run(void *arg) {
    struct worker_lane *lane = arg;
    bool busy = false;
    for (struct request *request; (request = next_request(lane, &busy));)
        request->work(request);
    return NULL;
}

struct workers *workers_new(void) {
    struct workers *workers = memory_new(sizeof *workers);
    for (size_t i = 0; i < WORKERS_LANES; i++) {
        struct worker_lane *lane = &workers->lanes[i];
        pthread_mutex_init(&lane->mutex, NULL);
        pthread_cond_init(&lane->more, NULL);
        list_init(&lane->waiting);
        for (size_t t = 0; t < lanes[i].threads; t++)
            thread_start(&lane->threads[t], lanes[i].thread, run, lane);
    }
    return workers;
}

static bool append(struct workers *workers, struct request *request, size_t most) {
    struct worker_lane *lane = &workers->lanes[paged_queue_of(request)];
    pthread_mutex_lock(&lane->mutex);
    bool taken = lane->waiting_count < most;
    if (taken) {
        list_push_back(&lane->waiting, &request->link);
        lane->waiting_count++;
        pthread_cond_signal(&lane->more);
    }
    pthread_mutex_unlock(&lane->mutex);
    return taken;
}

bool workers_give(struct workers *workers, struct request *request) {
    return append(workers, request, workers_waiting_max(request));
}

void workers_pass(struct workers *workers, struct request *request) {
    append(workers, request, SIZE_MAX);
}

const char *workers_lane_text(enum workers_lane lane) {
    return lanes[lane].text;
}

size_t workers_waiting_max(const struct request *request) {
    return lanes[paged_queue_of(request)].waiting_max;
}

void workers_counts(struct workers *workers, enum workers_lane which, size_t *waiting,
                    size_t *running) {
    struct worker_lane *lane = &workers->lanes[which];
    pthread_mutex_lock(&lane->mutex);
    *waiting = lane->waiting_count;
    *running = lane->running;
    pthread_mutex_unlock(&lane->mutex);
}

static void end_lane(struct worker_lane *lane, size_t threads) {
    pthread_mutex_lock(&lane->mutex);
    lane->ending = true;
    pthread_cond_broadcast(&lane->more);
    pthread_mutex_unlock(&lane->mutex);
    for (size_t i = 0; i < threads; i++)
        pthread_join(lane->threads[i], NULL);
    assert(list_empty(&lane->waiting) && lane->waiting_count == 0 && lane->running == 0);
    pthread_cond_destroy(&lane->more);
    pthread_mutex_destroy(&lane->mutex);
}

void workers_free(struct workers *workers) {
    if (!workers)
        return;
    for (size_t i = 0; i < WORKERS_LANES; i++)
        end_lane(&workers->lanes[i], lanes[i].threads);
    free(workers);
}
