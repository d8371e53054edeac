/* jq_pool: one manager thread, a few helper processes.
 *
 * start() queues the job and rings; everything else happens on the manager's thread, which alone
 * touches the helpers. A helper is idle or has one job, with a deadline:
 *
 *   (none) ──start──▶ idle ──job──▶ busy ──answer──▶ idle
 *                                    └──deadline, death──▶ (none)
 */
#include "jq/jq_pool.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/list.h"
#include "base/memory.h"
#include "base/thread.h"
#include "jq/jq_talk.h"
#include "jq/jq_wire.h"

#define MEMORY_DEFAULT     ((size_t)512 * 1024 * 1024)
#define OUTPUT_MAX_DEFAULT ((size_t)16 * 1024 * 1024)

enum { HELPERS_MAX = 64, CPU_SLACK_SECONDS = 1, MS_A_SECOND = 1000 };

static const char died[] = "the jq program used too much memory or crashed";
static const char not_started[] = "the jq helper process could not be started";

/* A job that waits or runs; the job's jq_private. */
struct ticket {
    struct list link;
    struct jq_job *job;
    uint64_t program; /* its hash */
    bool again;       /* its first helper died: this is its second and last */
};

struct helper {
    bool alive;
    bool proven; /* it has answered before */
    struct jq_process process;
    struct ticket *ticket; /* NULL: idle */
    struct jq_talk talk;
    struct mono deadline;
};

struct pool {
    struct jq jq;
    struct jq_pool_options options;
    pthread_t manager;
    int bell;              /* eventfd */
    pthread_mutex_t mutex; /* guards waiting and closing */
    struct list waiting;
    bool closing;
    struct helper helpers[HELPERS_MAX]; /* the manager's alone; options.helpers of them */
};

static struct pool *pool_of(struct jq *jq) {
    return CONTAINER_OF(jq, struct pool, jq);
}

static struct mono now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (struct mono){t.tv_sec * MS_A_SECOND + t.tv_nsec / 1000000};
}

/* ---- what other threads do ---- */

static void ring(struct pool *pool) {
    uint64_t one = 1;
    ssize_t put = write(pool->bell, &one, sizeof one);
    assert(put == (ssize_t)sizeof one);
}

static void start(struct jq *jq, struct jq_job *job) {
    struct pool *pool = pool_of(jq);
    struct ticket *ticket = memory_new(sizeof *ticket);
    ticket->job = job;
    ticket->program = bytes_hash(job->program);
    job->jq_private = ticket;
    pthread_mutex_lock(&pool->mutex);
    list_push_back(&pool->waiting, &ticket->link);
    pthread_mutex_unlock(&pool->mutex);
    ring(pool);
}

/* ---- the end of a job ---- */

static void finish(struct ticket *ticket, enum status status, bool truthy, struct bytes output,
                   const struct err *err) {
    struct jq_job *job = ticket->job;
    free(ticket);
    job->jq_private = NULL;
    job->done(job, status, truthy, output, err);
}

static void refuse(struct ticket *ticket, struct bytes why) {
    struct err err;
    err_set(&err, STATUS_INVALID, "%.*s", BYTES_ARG(why));
    finish(ticket, STATUS_INVALID, false, BYTES_NONE, &err);
}

static void helper_end(struct helper *helper, bool *never_ran) {
    *never_ran = jq_process_end(&helper->process);
    jq_talk_free(&helper->talk);
    helper->alive = false;
}

static void helper_kill(struct helper *helper, const char *why) {
    struct ticket *ticket = helper->ticket;
    bool never_ran;
    helper->ticket = NULL;
    helper_end(helper, &never_ran);
    if (ticket)
        refuse(ticket, bytes_of(never_ran ? not_started : why));
}

/* Somebody else's kill may hit a helper that had just been given a job; a program that brings
 * helpers down itself will do so again. So one that dies in a helper that has worked before is run
 * once more. */
static void helper_died(struct pool *pool, struct helper *helper) {
    struct ticket *ticket = helper->ticket;
    if (ticket && helper->proven && !ticket->again) {
        ticket->again = true;
        pthread_mutex_lock(&pool->mutex);
        list_push_front(&pool->waiting, &ticket->link);
        pthread_mutex_unlock(&pool->mutex);
        helper->ticket = NULL;
    }
    helper_kill(helper, died);
}

static void helper_answered(struct helper *helper) {
    struct ticket *ticket = helper->ticket;
    struct jq_answer head;
    struct bytes text = jq_talk_answer(&helper->talk, &head);
    helper->ticket = NULL;
    helper->proven = true;
    if (head.failed)
        refuse(ticket, text);
    else
        finish(ticket, STATUS_OK, head.truthy, text, NULL);
    jq_talk_clear(&helper->talk);
}

/* ---- handing jobs over ---- */

static bool runs(const struct pool *pool, uint64_t program) {
    for (size_t i = 0; i < pool->options.helpers; i++) {
        const struct ticket *ticket = pool->helpers[i].ticket;
        if (ticket && ticket->program == program)
            return true;
    }
    return false;
}

/* The oldest of a program that no helper runs now, else the oldest: a program that takes its whole
 * time on every input has one helper while others wait, not all. */
static struct list *next_link(const struct pool *pool) {
    LIST_EACH(link, &pool->waiting) {
        if (!runs(pool, CONTAINER_OF(link, struct ticket, link)->program))
            return link;
    }
    return list_empty(&pool->waiting) ? NULL : pool->waiting.next;
}

static struct ticket *next_ticket(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    struct list *link = next_link(pool);
    if (link)
        list_remove(link);
    pthread_mutex_unlock(&pool->mutex);
    return link ? CONTAINER_OF(link, struct ticket, link) : NULL;
}

/* An idle helper, one that runs before one to be started; NULL: all are busy. */
static struct helper *free_helper(struct pool *pool) {
    struct helper *unborn = NULL;
    for (size_t i = 0; i < pool->options.helpers; i++) {
        struct helper *helper = &pool->helpers[i];
        if (helper->alive && !helper->ticket)
            return helper;
        if (!helper->alive && !unborn)
            unborn = helper;
    }
    return unborn;
}

static bool helper_start(struct pool *pool, struct helper *helper) {
    *helper = (struct helper){0};
    helper->alive =
        jq_process_start(&helper->process, pool->options.program, pool->options.memory_bytes);
    if (helper->alive)
        jq_talk_init(&helper->talk, helper->process.fd, pool->options.output_max);
    return helper->alive;
}

static const char *too_large(const struct jq_job *job) {
    if (job->program.len > JQ_PROGRAM_MAX)
        return "the jq program is longer than 64 KiB";
    return job->input.len > JQ_INPUT_MAX ? "the input of the jq program is larger than 64 MiB"
                                         : NULL;
}

static void hand_over(struct pool *pool, struct helper *helper, struct ticket *ticket) {
    const struct jq_job *job = ticket->job;
    const char *wrong = too_large(job);
    if (!wrong && !helper->alive && !helper_start(pool, helper))
        wrong = not_started;
    if (wrong) {
        refuse(ticket, bytes_of(wrong));
        return;
    }
    int64_t timeout_ms = pool->options.timeout_ms;
    helper->ticket = ticket;
    helper->deadline = mono_after(now(), timeout_ms);
    jq_talk_ask(&helper->talk, job->program, job->input,
                (uint32_t)(timeout_ms / MS_A_SECOND + CPU_SLACK_SECONDS));
}

static void hand_over_all(struct pool *pool) {
    struct helper *helper;
    struct ticket *ticket;
    while ((helper = free_helper(pool)) && (ticket = next_ticket(pool)))
        hand_over(pool, helper, ticket);
}

/* ---- the manager ---- */

static void helper_step(struct pool *pool, struct helper *helper) {
    switch (jq_talk_step(&helper->talk)) {
    case JQ_TALK_GOES_ON:
        break;
    case JQ_TALK_ANSWERED:
        helper_answered(helper);
        break;
    case JQ_TALK_BROKEN:
        helper_died(pool, helper);
        break;
    }
}

static void check_deadline(struct pool *pool, struct helper *helper) {
    char why[64];
    if (!helper->ticket || now().ms < helper->deadline.ms)
        return;
    snprintf(why, sizeof why, "the jq program took longer than %lld ms",
             (long long)pool->options.timeout_ms);
    helper_kill(helper, why);
}

static int wait_ms(const struct pool *pool) {
    struct mono until = MONO_NEVER, at = now();
    for (size_t i = 0; i < pool->options.helpers; i++)
        if (pool->helpers[i].ticket)
            until = mono_earlier(until, pool->helpers[i].deadline);
    if (until.ms == MONO_NEVER.ms)
        return -1;
    return until.ms <= at.ms ? 0 : (int)(until.ms - at.ms);
}

static void answer_bell(struct pool *pool) {
    uint64_t rings;
    ssize_t got = read(pool->bell, &rings, sizeof rings);
    assert(got == (ssize_t)sizeof rings || errno == EAGAIN);
}

/* Waits until there is something to do, and does what concerns helpers that run. */
static void turn(struct pool *pool) {
    struct pollfd watched[HELPERS_MAX + 1];
    size_t count = pool->options.helpers;
    for (size_t i = 0; i < count; i++) {
        const struct helper *helper = &pool->helpers[i];
        bool writes = helper->ticket && jq_talk_wants_write(&helper->talk);
        watched[i] = (struct pollfd){helper->alive ? helper->process.fd : -1,
                                     (short)(writes ? POLLIN | POLLOUT : POLLIN), 0};
    }
    watched[count] = (struct pollfd){pool->bell, POLLIN, 0};
    if (poll(watched, count + 1, wait_ms(pool)) < 0)
        return;
    if (watched[count].revents)
        answer_bell(pool);
    for (size_t i = 0; i < count; i++) {
        if (watched[i].revents)
            helper_step(pool, &pool->helpers[i]);
        check_deadline(pool, &pool->helpers[i]);
    }
}

static bool is_closing(struct pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    bool closing = pool->closing;
    pthread_mutex_unlock(&pool->mutex);
    return closing;
}

static void *manage(void *arg) {
    struct pool *pool = arg;
    while (!is_closing(pool)) {
        hand_over_all(pool);
        turn(pool);
    }
    for (size_t i = 0; i < pool->options.helpers; i++)
        if (pool->helpers[i].alive)
            helper_kill(&pool->helpers[i], died);
    return NULL;
}

/* ---- making and freeing ---- */

static void pool_free(struct jq *jq) {
    struct pool *pool = pool_of(jq);
    pthread_mutex_lock(&pool->mutex);
    assert(list_empty(&pool->waiting));
    pool->closing = true;
    pthread_mutex_unlock(&pool->mutex);
    ring(pool);
    pthread_join(pool->manager, NULL);
    close(pool->bell);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static const struct jq_vtable vtable = {.start = start, .free = pool_free};

struct jq *jq_pool_new(const struct jq_pool_options *options) {
    assert(options->helpers > 0 && options->helpers <= HELPERS_MAX && options->timeout_ms > 0);
    struct pool *pool = memory_new(sizeof *pool);
    pool->jq.vtable = &vtable;
    pool->options = *options;
    if (!options->memory_bytes)
        pool->options.memory_bytes = MEMORY_DEFAULT;
    if (!options->output_max)
        pool->options.output_max = OUTPUT_MAX_DEFAULT;
    list_init(&pool->waiting);
    pthread_mutex_init(&pool->mutex, NULL);
    pool->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->bell < 0)
        abort();
    thread_start(&pool->manager, "jq-manager", manage, pool);
    return &pool->jq;
}

/* ---- checking alone ---- */

struct check {
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
    struct check *check = job->arg;
    pthread_mutex_lock(&check->mutex);
    check->status = status;
    if (err)
        check->err = *err;
    check->is_over = true;
    pthread_cond_signal(&check->over);
    pthread_mutex_unlock(&check->mutex);
}

enum status jq_pool_check(struct jq *pool, struct bytes program, struct err *err) {
    struct check check = {.job = {.program = program, .input = BYTES_NONE, .done = check_done}};
    check.job.arg = &check;
    pthread_mutex_init(&check.mutex, NULL);
    pthread_cond_init(&check.over, NULL);
    pool->vtable->start(pool, &check.job);
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
