/* library_worker: the worker of impound.h; shared by the files that implement it. */
#ifndef LIB_LIBRARY_WORKER_H
#define LIB_LIBRARY_WORKER_H

#include <pthread.h>

#include "config/config.h"
#include "store/instance.h"
#include "lib/library.h"
#include "handler/callback/callback.h"
#include "port/jq.h"

/* A token's upper bits have the index of its queue. */
enum { LIBRARY_TOKEN_QUEUE_SHIFT = 48 };

struct library_line {
    const struct config_queue *queue;
    impound_handler *run; /* NULL: not set yet */
    void *arg;
    uint32_t threads;
    struct broker *broker;
    struct engine_handler handler;
};

enum library_stage { LIBRARY_OPEN, LIBRARY_RUNNING, LIBRARY_STOPPED };

struct impound_worker {
    struct config *config;
    struct body_memory *memory;
    struct store *store;
    struct jq *jq; /* NULL: no rule has a jq program */
    struct spill *spill;
    struct engine *engine; /* from start on */
    struct library_line *lines;
    pthread_t engine_thread;
    pthread_mutex_t mutex; /* guards stage and rng */
    enum library_stage stage;
    struct rng rng; /* for ids */
    char instance[INSTANCE_MAX];
};

struct library_line *library_line(struct impound_worker *worker, const char *queue);
/* False, with an error of status INVALID, if the worker has not been started. */
bool library_started(struct impound_worker *worker, struct impound_error *error);
enum impound_status library_no_queue(const char *queue, struct impound_error *error);

/* library_message.c: the callback_run of a queue's handler, on its threads. */
void library_message_run(void *arg, const struct callback_call *call);

#endif
