/* jq_pool: one manager thread, a few helper processes.
 *
 * start() queues the job and wakes the manager; everything else happens on the manager's thread,
 * which alone touches the helpers (jq_seat.h). Jobs wait until a helper is ready, so that a
 * helper's start does not count as a program's time. From the first job on there is one helper more
 * than are busy, within the pool's limit, so that a killed helper has a ready successor. */
#include "jq/jq_pool.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/instant.h"
#include "base/containers/list.h"
#include "base/memory.h"
#include "base/thread/thread.h"
#include "jq/jq_seat.h"
#include "jq/jq_wire.h"

#define MEMORY_DEFAULT     ((size_t)512 * 1024 * 1024)
#define OUTPUT_MAX_DEFAULT ((size_t)16 * 1024 * 1024)

enum {
    HELPERS_MAX = 64,
    SPARES = 1, /* helpers kept ready besides the busy ones */
    START_TRIES =
        3, /* a kill from outside may hit a starting helper, so one failure is not final */
    MS_A_SECOND = 1000,
    NS_A_MS = 1000000,
    REASON_MAX = 80,
};

/* A job that waits or runs. */
struct jq_ticket {
    struct list link;
    struct jq_job *job;
    uint64_t program; /* hash of the program */
    bool again;       /* its first helper was killed: this is its second and last try */
};

struct jq_pool {
    struct jq jq;
    struct jq_pool_options options;
    pthread_t manager;
    int wakeup;            /* eventfd */
    pthread_mutex_t mutex; /* guards waiting, waiting_count and closing */
    struct list waiting;
    size_t waiting_count;
    bool closing;
    /* Used by the manager's thread alone. */
    bool used;                         /* there was at least one job */
    size_t failed_starts;              /* consecutive, since the last new job or answer */
    struct jq_seat seats[HELPERS_MAX]; /* options.helpers of them */
};

static struct jq_pool *pool_of(struct jq *jq) {
    return CONTAINER_OF(jq, struct jq_pool, jq);
}

static struct mono now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (struct mono){t.tv_sec * MS_A_SECOND + t.tv_nsec / NS_A_MS};
}

/* ---- any thread ---- */

static void ring(struct jq_pool *pool) {
    uint64_t one = 1;
    ssize_t put = write(pool->wakeup, &one, sizeof one);
    assert(put == (ssize_t)sizeof one);
}

static void start(struct jq *jq, struct jq_job *job) {
    struct jq_pool *pool = pool_of(jq);
    struct jq_ticket *ticket = memory_new(sizeof *ticket);
    ticket->job = job;
    ticket->program = bytes_hash(job->program);
    pthread_mutex_lock(&pool->mutex);
    list_push_back(&pool->waiting, &ticket->link);
    pool->waiting_count++;
    pthread_mutex_unlock(&pool->mutex);
    ring(pool);
}

/* ---- the end of a job ---- */

static void finish(struct jq_ticket *ticket, enum status status, bool truthy, struct bytes output,
                   const struct err *err) {
    struct jq_job *job = ticket->job;
    free(ticket);
    job->done(job, status, truthy, output, err);
}

static void refuse(struct jq_ticket *ticket, struct bytes why) {
    struct err err;
    err_set(&err, STATUS_INVALID, "%.*s", BYTES_ARG(why));
    finish(ticket, STATUS_INVALID, false, BYTES_NONE, &err);
}

/* ---- the queue ---- */

static void put_back(struct jq_pool *pool, struct jq_ticket *ticket) {
    assert(ticket->job);
    pthread_mutex_lock(&pool->mutex);
    list_push_front(&pool->waiting, &ticket->link);
    pool->waiting_count++;
    pthread_mutex_unlock(&pool->mutex);
}

static bool runs(const struct jq_pool *pool, uint64_t program) {
    for (size_t i = 0; i < pool->options.helpers; i++) {
        const struct jq_ticket *ticket = pool->seats[i].ticket;
        if (ticket && ticket->program == program)
            return true;
    }
    return false;
}

/* The oldest job of a program that no helper runs now, otherwise the oldest: a program that uses
 * its whole time limit on every input occupies one helper while others wait, not all. */
static struct list *next_link(const struct jq_pool *pool) {
    LIST_EACH(link, &pool->waiting) {
        if (!runs(pool, CONTAINER_OF(link, struct jq_ticket, link)->program))
            return link;
    }
    return list_empty(&pool->waiting) ? NULL : pool->waiting.next;
}

static struct jq_ticket *next_ticket(struct jq_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    struct list *link = next_link(pool);
    if (link) {
        assert(pool->waiting_count > 0);
        list_remove(link);
        pool->waiting_count--;
    }
    pthread_mutex_unlock(&pool->mutex);
    return link ? CONTAINER_OF(link, struct jq_ticket, link) : NULL;
}

static size_t waiting_now(struct jq_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    size_t count = pool->waiting_count;
    pthread_mutex_unlock(&pool->mutex);
    return count;
}

/* ---- the end of a helper ---- */

static const char *reason(const struct jq_pool *pool, enum jq_end end, char memory[REASON_MAX]) {
    if (end == JQ_END_NEVER_RAN)
        return "the jq helper process could not be started";
    if (end != JQ_END_TOO_SLOW)
        return "the jq program used too much memory or crashed";
    snprintf(memory, REASON_MAX, "the jq program took longer than %lld ms",
             (long long)pool->options.timeout_ms);
    return memory;
}

static struct jq_ticket *take_ticket(struct jq_seat *seat) {
    struct jq_ticket *ticket = seat->ticket;
    seat->ticket = NULL;
    return ticket;
}

/* A SIGKILL may come from outside (the kernel's OOM killer, say), so that the job is run once more;
 * any other death is the program's own doing. */
static void seat_lost(struct jq_pool *pool, struct jq_seat *seat, enum jq_end end) {
    char memory[REASON_MAX];
    struct jq_ticket *ticket = take_ticket(seat);
    if (ticket && end == JQ_END_KILLED && !ticket->again) {
        ticket->again = true;
        put_back(pool, ticket);
    } else if (ticket) {
        refuse(ticket, bytes_of(reason(pool, end, memory)));
    }
}

static void seat_broke(struct jq_pool *pool, struct jq_seat *seat) {
    pool->failed_starts += seat->state == JQ_SEAT_STARTING;
    seat_lost(pool, seat, jq_seat_end(seat));
}

static void seat_answered(struct jq_pool *pool, struct jq_seat *seat) {
    struct jq_ticket *ticket = take_ticket(seat);
    struct jq_answer head;
    struct bytes text = jq_talk_answer(&seat->talk, &head);
    if (ticket && head.failed)
        refuse(ticket, text);
    else if (ticket)
        finish(ticket, STATUS_OK, head.truthy, text, NULL);
    pool->failed_starts = 0;
    jq_seat_rest(seat);
    if (head.last)
        jq_seat_end(seat);
}

static void seat_step(struct jq_pool *pool, struct jq_seat *seat) {
    switch (jq_talk_step(&seat->talk)) {
    case JQ_TALK_GOES_ON:
        break;
    case JQ_TALK_ANSWERED:
        seat_answered(pool, seat);
        break;
    case JQ_TALK_BROKEN:
        seat_broke(pool, seat);
        break;
    }
}

static void check_deadline(struct jq_pool *pool, struct jq_seat *seat, struct mono at) {
    if (at.ms < seat->deadline.ms)
        return;
    pool->failed_starts += seat->state == JQ_SEAT_STARTING;
    jq_seat_end(seat);
    seat_lost(pool, seat, JQ_END_TOO_SLOW);
}

/* ---- handing jobs over ---- */

static struct jq_seat *seat_in(struct jq_pool *pool, enum jq_seat_state state) {
    for (size_t i = 0; i < pool->options.helpers; i++)
        if (pool->seats[i].state == state)
            return &pool->seats[i];
    return NULL;
}

static const char *too_large(const struct jq_job *job) {
    if (job->program.len > JQ_PROGRAM_MAX)
        return "the jq program is longer than 64 KiB";
    return job->input.len > JQ_INPUT_MAX ? "the input of the jq program is larger than 64 MiB"
                                         : NULL;
}

static void hand_over(struct jq_pool *pool, struct jq_seat *seat, struct jq_ticket *ticket) {
    assert(seat->state == JQ_SEAT_IDLE);
    const char *wrong = too_large(ticket->job);
    if (wrong)
        refuse(ticket, bytes_of(wrong));
    else
        jq_seat_ask(seat, ticket, ticket->job, pool->options.timeout_ms, now());
}

static void hand_over_all(struct jq_pool *pool) {
    struct jq_seat *seat;
    struct jq_ticket *ticket;
    while ((seat = seat_in(pool, JQ_SEAT_IDLE)) && (ticket = next_ticket(pool)))
        hand_over(pool, seat, ticket);
}

/* ---- starting helpers ---- */

/* Starting and idle helpers serve the waiting jobs, and SPARES are to remain. */
static bool wants_another(struct jq_pool *pool) {
    size_t unused = 0;
    for (size_t i = 0; i < pool->options.helpers; i++) {
        enum jq_seat_state state = pool->seats[i].state;
        unused += state == JQ_SEAT_STARTING || state == JQ_SEAT_IDLE;
    }
    return pool->used && pool->failed_starts < START_TRIES && unused < waiting_now(pool) + SPARES;
}

static bool has_helper(const struct jq_pool *pool) {
    for (size_t i = 0; i < pool->options.helpers; i++)
        if (pool->seats[i].state != JQ_SEAT_EMPTY)
            return true;
    return false;
}

static void start_helpers(struct jq_pool *pool) {
    struct jq_seat *seat;
    while ((seat = seat_in(pool, JQ_SEAT_EMPTY)) && wants_another(pool))
        if (!jq_seat_start(seat, &pool->options, now()))
            pool->failed_starts++;
}

/* There is no helper, and none can be started. */
static void refuse_waiting(struct jq_pool *pool) {
    char memory[REASON_MAX];
    struct jq_ticket *ticket;
    while ((ticket = next_ticket(pool)))
        refuse(ticket, bytes_of(reason(pool, JQ_END_NEVER_RAN, memory)));
}

static void maintain_helpers(struct jq_pool *pool) {
    start_helpers(pool);
    if (pool->failed_starts >= START_TRIES && !has_helper(pool))
        refuse_waiting(pool);
}

/* ---- the manager ---- */

static int wait_ms(const struct jq_pool *pool) {
    struct mono until = MONO_NEVER, at = now();
    for (size_t i = 0; i < pool->options.helpers; i++)
        until = mono_earlier(until, pool->seats[i].deadline);
    if (until.ms == MONO_NEVER.ms)
        return -1;
    return until.ms <= at.ms ? 0 : (int)(until.ms - at.ms);
}

static void clear_wakeup(struct jq_pool *pool) {
    uint64_t rings;
    ssize_t got = read(pool->wakeup, &rings, sizeof rings);
    assert(got == (ssize_t)sizeof rings || errno == EAGAIN);
    pool->used = true;
    pool->failed_starts = 0;
}

static struct pollfd watch(const struct jq_seat *seat) {
    if (seat->state == JQ_SEAT_EMPTY)
        return (struct pollfd){.fd = -1};
    bool writes = jq_talk_wants_write(&seat->talk);
    return (struct pollfd){seat->process.fd, (short)(writes ? POLLIN | POLLOUT : POLLIN), 0};
}

/* Waits for an event, and handles the events of running helpers. */
static void turn(struct jq_pool *pool) {
    struct pollfd watched[HELPERS_MAX + 1];
    size_t count = pool->options.helpers;
    for (size_t i = 0; i < count; i++)
        watched[i] = watch(&pool->seats[i]);
    watched[count] = (struct pollfd){pool->wakeup, POLLIN, 0};
    if (poll(watched, count + 1, wait_ms(pool)) < 0)
        return;
    if (watched[count].revents)
        clear_wakeup(pool);
    struct mono at = now();
    for (size_t i = 0; i < count; i++) {
        if (watched[i].revents)
            seat_step(pool, &pool->seats[i]);
        check_deadline(pool, &pool->seats[i], at);
    }
}

static bool is_closing(struct jq_pool *pool) {
    pthread_mutex_lock(&pool->mutex);
    bool closing = pool->closing;
    pthread_mutex_unlock(&pool->mutex);
    return closing;
}

static void *manage(void *arg) {
    struct jq_pool *pool = arg;
    while (!is_closing(pool)) {
        hand_over_all(pool);
        maintain_helpers(pool);
        turn(pool);
    }
    for (size_t i = 0; i < pool->options.helpers; i++)
        if (pool->seats[i].state != JQ_SEAT_EMPTY)
            jq_seat_end(&pool->seats[i]);
    return NULL;
}

/* ---- create and free ---- */

static void pool_free(struct jq *jq) {
    struct jq_pool *pool = pool_of(jq);
    pthread_mutex_lock(&pool->mutex);
    assert(list_empty(&pool->waiting));
    pool->closing = true;
    pthread_mutex_unlock(&pool->mutex);
    ring(pool);
    pthread_join(pool->manager, NULL);
    close(pool->wakeup);
    pthread_mutex_destroy(&pool->mutex);
    free(pool);
}

static const struct jq_vtable vtable = {.start = start, .free = pool_free};

struct jq *jq_pool_new(const struct jq_pool_options *options) {
    assert(options->helpers > 0 && options->helpers <= HELPERS_MAX && options->timeout_ms > 0);
    struct jq_pool *pool = memory_new(sizeof *pool);
    pool->jq.vtable = &vtable;
    pool->options = *options;
    if (!options->memory_bytes)
        pool->options.memory_bytes = MEMORY_DEFAULT;
    if (!options->output_max)
        pool->options.output_max = OUTPUT_MAX_DEFAULT;
    list_init(&pool->waiting);
    for (size_t i = 0; i < HELPERS_MAX; i++)
        jq_seat_init(&pool->seats[i]);
    pthread_mutex_init(&pool->mutex, NULL);
    pool->wakeup = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->wakeup < 0)
        abort();
    thread_start(&pool->manager, "jq-manager", manage, pool);
    return &pool->jq;
}
