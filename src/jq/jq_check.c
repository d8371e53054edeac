/* jq_check: waits for the pool's answer on a condition variable. */
#include "jq/jq_check.h"

#include <assert.h>
#include <pthread.h>

struct jq_check_call {
    struct jq_job job;
    pthread_mutex_t mutex;
    pthread_cond_t over;
    bool is_over;
    enum status status;
    struct err err;
};

static void check_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                       const struct err *err) {
    (void)truthy, (void)output;
    struct jq_check_call *check = job->arg;
    pthread_mutex_lock(&check->mutex);
    check->status = status;
    if (err)
        check->err = *err;
    check->is_over = true;
    pthread_cond_signal(&check->over);
    pthread_mutex_unlock(&check->mutex);
}

enum status jq_check(struct jq *jq, struct bytes program, struct err *err) {
    assert(jq);
    struct jq_check_call check = {
        .job = {.program = program, .input = BYTES_NONE, .done = check_done}};
    check.job.arg = &check;
    pthread_mutex_init(&check.mutex, NULL);
    pthread_cond_init(&check.over, NULL);
    jq->vtable->start(jq, &check.job);
    pthread_mutex_lock(&check.mutex);
    while (!check.is_over)
        pthread_cond_wait(&check.over, &check.mutex);
    pthread_mutex_unlock(&check.mutex);
    pthread_cond_destroy(&check.over);
    pthread_mutex_destroy(&check.mutex);
    if (check.status != STATUS_OK && err)
        *err = check.err;
    return check.status;
}
