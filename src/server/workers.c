#include "server/workers.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/thread.h"
#include "server/request.h"

struct workers {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct list waiting;
    size_t waiting_count;
    bool ending;
    pthread_t threads[WORKERS_THREADS];
};

/* The next request, or NULL when it is time to end. */
static struct request *next_request(struct workers *workers) {
    pthread_mutex_lock(&workers->mutex);
    while (list_empty(&workers->waiting) && !workers->ending)
        pthread_cond_wait(&workers->more, &workers->mutex);
    struct list *node = list_pop_front(&workers->waiting);
    if (node)
        workers->waiting_count--;
    pthread_mutex_unlock(&workers->mutex);
    return node ? CONTAINER_OF(node, struct request, link) : NULL;
}

static void *run(void *arg) {
    struct workers *workers = arg;
    for (struct request *request; (request = next_request(workers));)
        request->work(request);
    return NULL;
}

struct workers *workers_new(void) {
    struct workers *workers = memory_new(sizeof *workers);
    pthread_mutex_init(&workers->mutex, NULL);
    pthread_cond_init(&workers->more, NULL);
    list_init(&workers->waiting);
    for (size_t i = 0; i < WORKERS_THREADS; i++)
        thread_start(&workers->threads[i], "http-worker", run, workers);
    return workers;
}

static void append(struct workers *workers, struct request *request) {
    list_push_back(&workers->waiting, &request->link);
    workers->waiting_count++;
    pthread_cond_signal(&workers->more);
}

bool workers_give(struct workers *workers, struct request *request) {
    pthread_mutex_lock(&workers->mutex);
    bool taken = workers->waiting_count < WORKERS_WAITING_MAX;
    if (taken)
        append(workers, request);
    pthread_mutex_unlock(&workers->mutex);
    return taken;
}

void workers_pass(struct workers *workers, struct request *request) {
    pthread_mutex_lock(&workers->mutex);
    append(workers, request);
    pthread_mutex_unlock(&workers->mutex);
}

void workers_free(struct workers *workers) {
    if (!workers)
        return;
    pthread_mutex_lock(&workers->mutex);
    workers->ending = true;
    pthread_cond_broadcast(&workers->more);
    pthread_mutex_unlock(&workers->mutex);
    for (size_t i = 0; i < WORKERS_THREADS; i++)
        pthread_join(workers->threads[i], NULL);
    pthread_cond_destroy(&workers->more);
    pthread_mutex_destroy(&workers->mutex);
    free(workers);
}
