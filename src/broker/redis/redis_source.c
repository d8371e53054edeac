/* One thread talks to the server, over two connections: on one it asks and is answered at once, on
 * the other the server may wait until there is something to fetch. The engine's thread touches
 * only the messages in flight (redis_inflight.h), and rings the wakeup.
 *
 *   connect ──▶ begin ──▶ ( give back, fetch, settle, tend, wait )* ──▶ lost ──▶ wait a little ─┐
 *      ▲                                                                                        │
 *      └────────────────────────────────────────────────────────────────────────────────────────┘
 *
 * What was settled and could not be said to the server is said when it can be reached again. */
#include "broker/redis/redis_source.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "broker/redis/redis_shape.h"
#include "broker/common/source_thread.h"

enum {
    LAG_MS = 1000,   /* between questions for the lag, while something may wait */
    CLOSE_MS = 2000, /* for sending settlements at the end */
};

struct redis_source {
    struct source_thread thread;
    struct redis_url url;
    struct redis_session session;
    const struct redis_shape *shape;
    struct redis_inflight inflight;
    struct rng rng;

    /* The thread's own: */
    struct mono tend_at, lag_at, fetched_at;
    size_t answers, answered; /* of the fetch under way; answers 0: there is none */
};

static struct redis_source *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct redis_source, thread.broker);
}

static struct mono now_of(const struct redis_source *source) {
    return clock_now(source->session.clock).mono;
}

static void hang_up(struct redis_source *source) {
    redis_connection_free(source->session.work);
    redis_connection_free(source->session.fetch);
    source->session.work = source->session.fetch = NULL;
    source->answers = source->answered = 0;
    source->session.begun = false;
}

static void lost(struct redis_source *source, const struct err *err) {
    hang_up(source);
    connection_state_lost(&source->thread.state, now_of(source), err);
}

static bool connect_both(struct redis_source *source, struct err *err) {
    struct redis_session *session = &source->session;
    session->work = redis_connection_open(&source->url, session->clock, err);
    if (session->work)
        session->fetch = redis_connection_open(&source->url, session->clock, err);
    return session->fetch && source->shape->present(session, err);
}

static int64_t tend_ms(const struct redis_source *source) {
    int64_t third = source->url.idle_ms / 3;
    return third < REDIS_TEND_MS ? third : REDIS_TEND_MS;
}

static bool connect_again(struct redis_source *source) {
    struct err err = {STATUS_OK, ""};
    if (now_of(source).ms < source->thread.state.next_try.ms)
        return false;
    if (!connect_both(source, &err)) {
        lost(source, &err);
        return false;
    }
    source->tend_at = mono_after(now_of(source), tend_ms(source));
    source->lag_at = now_of(source);
    connection_state_made(&source->thread.state, now_of(source));
    return true;
}

/* ---- what there is to do ---- */

/* How many of those left the next command settles. */
static size_t portion(const struct redis_source *source, size_t left) {
    return left < source->shape->settles ? left : source->shape->settles;
}

static bool settle_some(struct redis_source *source, struct redis_item **items, size_t count,
                        struct err *err) {
    struct redis_connection *work = source->session.work;
    size_t some;
    for (size_t i = 0; i < count; i += some) {
        some = portion(source, count - i);
        source->shape->settle(&source->session, items + i, some);
    }
    if (redis_connection_send(work, err) != STATUS_OK)
        return false;
    for (size_t i = 0; i < count; i += some) {
        some = portion(source, count - i);
        redisReply *reply = redis_connection_read(work, REDIS_COMMAND_TIMEOUT_MS, err);
        bool taken = reply && reply->type != REDIS_REPLY_ERROR;
        if (reply && !taken)
            redis_connection_refused(work, reply, err);
        if (reply)
            freeReplyObject(reply);
        if (!taken)
            return false;
        redis_inflight_forget(&source->inflight, items + i, some);
    }
    return true;
}

static bool settle_all(struct redis_source *source, struct err *err) {
    struct redis_item *items[REDIS_AT_ONCE];
    size_t count;
    while ((count = redis_inflight_settled(&source->inflight, items, REDIS_AT_ONCE)) > 0)
        if (!settle_some(source, items, count, err))
            return false;
    return true;
}

static bool give_back_all(struct redis_source *source, struct err *err) {
    size_t count;
    do {
        if (!source->shape->give_back(&source->session, &count, err))
            return false;
    } while (count > 0);
    return true;
}

static bool begin(struct redis_source *source, struct err *err) {
    if (source->session.begun || !atomic_load(&source->thread.wanted))
        return true;
    source->session.begun = source->shape->begin(&source->session, err);
    if (redis_inflight_waiting(&source->inflight) > 0)
        connection_state_notify(&source->thread.state);
    return source->session.begun;
}

static struct mono fetch_until(const struct redis_source *source) {
    return mono_after(source->fetched_at, REDIS_BLOCK_MS + (int64_t)REDIS_COMMAND_TIMEOUT_MS);
}

/* Starts a fetch, unless one is under way. `coming`: at most so many were fetched and are not in
 * flight yet. */
static bool fetch(struct redis_source *source, size_t coming, struct err *err) {
    const struct source_thread *thread = &source->thread;
    size_t taken = redis_inflight_waiting(&source->inflight) + coming;
    if (source->answers || !source->session.begun || !atomic_load(&thread->wanted) ||
        atomic_load(&thread->closing) || taken > REDIS_INFLIGHT_MAX - REDIS_AT_ONCE)
        return true;
    size_t waiting = redis_inflight_waiting(&source->inflight);
    size_t room = ahead_count(&source->inflight.ahead, coming, waiting, REDIS_AT_ONCE);
    if (room == 0)
        return true;
    source->answers = source->shape->ask(&source->session, room);
    source->fetched_at = now_of(source);
    return redis_connection_send(source->session.fetch, err) == STATUS_OK;
}

/* With `ahead` the server fetches the next messages while these are read: once per turn, which has
 * other work too. */
static bool take_answer(struct redis_source *source, const redisReply *reply, bool *ahead,
                        struct err *err) {
    size_t which = source->answered++;
    bool sent = true;
    if (source->answered == source->answers) {
        source->answers = source->answered = 0;
        sent = !*ahead || fetch(source, REDIS_AT_ONCE, err);
        *ahead = false;
    }
    return source->shape->take(&source->session, which, reply, err) && sent;
}

/* Messages that are not wanted go back after they have been read. */
static bool read_fetched(struct redis_source *source, struct err *err) {
    bool ahead = !source->shape->looks, taken = false;
    while (source->answers > 0) {
        redisReply *reply = NULL;
        if (redis_connection_peek(source->session.fetch, &reply, err) != STATUS_OK)
            return false;
        if (!reply)
            break;
        taken = take_answer(source, reply, &ahead, err);
        freeReplyObject(reply);
        if (!taken)
            return false;
    }
    if (taken && redis_inflight_waiting(&source->inflight) > 0)
        connection_state_notify(&source->thread.state);
    if (source->answers && now_of(source).ms >= fetch_until(source).ms) {
        err_set(err, STATUS_TIMEOUT, "redis %.*s:%u: the server does not answer",
                BYTES_ARG(source->url.host), source->url.port);
        return false;
    }
    return true;
}

static bool tend(struct redis_source *source, struct err *err) {
    if (!source->session.begun || now_of(source).ms < source->tend_at.ms)
        return true;
    source->tend_at = mono_after(now_of(source), tend_ms(source));
    bool good = source->shape->tend(&source->session, err);
    if (redis_inflight_waiting(&source->inflight) > 0)
        connection_state_notify(&source->thread.state);
    return good;
}

/* A fetch that has not been answered for so long shows that nothing waits. */
static bool measure(struct redis_source *source, struct err *err) {
    uint64_t lag = 0;
    struct mono now = now_of(source);
    bool idle = source->answers > 0 && now.ms - source->fetched_at.ms >= LAG_MS;
    if (now.ms < source->lag_at.ms)
        return true;
    if (!idle && !source->shape->lag(&source->session, &lag, err))
        return false;
    source->lag_at = mono_after(now, LAG_MS);
    atomic_store(&source->thread.waiting, lag);
    return true;
}

/* The fetch is sent before the settlements: the server does both at once, and syncs its file once
 * for both. */
static bool exchange(struct redis_source *source, struct err *err) {
    if (!source->shape->looks)
        return fetch(source, 0, err) && settle_all(source, err);
    return source->answers > 0 || (settle_all(source, err) && fetch(source, 0, err));
}

static bool work(struct redis_source *source, struct err *err) {
    bool wanted = atomic_load(&source->thread.wanted);
    return begin(source, err) && read_fetched(source, err) &&
           (wanted || give_back_all(source, err)) && exchange(source, err) &&
           (!source->shape->recount || source->shape->recount(&source->session, err)) &&
           tend(source, err) && measure(source, err);
}

/* ---- the thread ---- */

static struct mono wake_at(const struct redis_source *source) {
    if (!source->session.work)
        return source->thread.state.next_try;
    bool looks = source->answers == 0 || atomic_load(&source->thread.waiting) > 0;
    struct mono next = looks ? source->lag_at : fetch_until(source);
    return source->session.begun ? mono_earlier(source->tend_at, next) : next;
}

static void wait(struct redis_source *source) {
    int64_t left = wake_at(source).ms - now_of(source).ms;
    bool fetching = source->session.fetch && source->answers > 0;
    wakeup_wait(&source->thread.wakeup, fetching ? redis_connection_fd(source->session.fetch) : -1,
                left > 0 ? left : 0);
}

static void act(struct redis_source *source) {
    struct err err = {STATUS_OK, ""};
    if (!source->session.work && !connect_again(source))
        return;
    if (!work(source, &err))
        lost(source, &err);
}

static void turn(struct broker *broker) {
    act(self(broker));
    wait(self(broker));
}

/* Sends settlements, for a bounded time. The fetch under way may have taken messages that we never
 * read: they are recovered after the next start. */
static void send_last(struct redis_source *source) {
    struct err err = {STATUS_OK, ""};
    struct mono until = mono_after(now_of(source), CLOSE_MS);
    while (!source->session.work && !connect_again(source) &&
           source->thread.state.next_try.ms < until.ms)
        wakeup_wait(&source->thread.wakeup, -1,
                    source->thread.state.next_try.ms - now_of(source).ms);
    bool said = source->session.work && settle_all(source, &err) && read_fetched(source, &err) &&
                give_back_all(source, &err);
    if (said && source->session.begun && source->shape->end)
        source->shape->end(&source->session);
}

static void end(struct broker *broker) {
    struct redis_source *source = self(broker);
    struct redis_item *settled;
    if (source->session.work || redis_inflight_settled(&source->inflight, &settled, 1) > 0)
        send_last(source);
    hang_up(source);
}

static const struct source_thread_work thread_work = {"redis-source", turn, end};

/* ---- the engine's side ---- */

static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    struct redis_source *source = self(broker);
    size_t got = redis_inflight_receive(&source->inflight, now.mono, out, max);
    if (got > 0)
        wakeup_ring(&source->thread.wakeup);
    return got;
}

static void settle(struct broker *broker, struct message *held) {
    redis_inflight_settle(&self(broker)->inflight, held);
    wakeup_ring(&self(broker)->thread.wakeup);
}

static void hand_back(struct broker *broker, struct message *held, struct instant due) {
    redis_inflight_hand_back(&self(broker)->inflight, held, due.mono);
    wakeup_ring(&self(broker)->thread.wakeup);
}

static struct mono next_wake(struct broker *broker) {
    return redis_inflight_next(&self(broker)->inflight);
}

static uint64_t lag(struct broker *broker) {
    struct redis_source *source = self(broker);
    return atomic_load(&source->thread.waiting) + redis_inflight_waiting(&source->inflight);
}

static void redis_free(struct broker *broker) {
    struct redis_source *source = self(broker);
    source_thread_free(&source->thread);
    redis_inflight_free(&source->inflight);
    arena_free(&source->session.arena);
    free(source);
}

static const struct broker_vtable vtable = {
    .kind = "redis",
    .receive = receive,
    .settle = settle,
    .hand_back = hand_back,
    .next_wake = next_wake,
    .lag = lag,
    SOURCE_THREAD_VTABLE,
    .free = redis_free,
};

enum status redis_source_check(struct bytes url, struct err *err) {
    struct redis_url parsed;
    return redis_url_source(url, NULL, &parsed, err);
}

static const struct redis_shape *shape_of(const struct redis_url *url) {
    return url->list.len     ? &redis_list_shape
           : url->stream.len ? &redis_stream_shape
                             : &redis_set_shape;
}

struct broker *redis_source_new(const struct broker_options *options) {
    struct redis_source *source = memory_new(sizeof *source);
    source_thread_init(&source->thread, &vtable, &thread_work, NULL, options);
    arena_init_heap(&source->session.arena, 256);
    enum status status = redis_url_source(options->url, &source->thread.arena, &source->url, NULL);
    assert(status == STATUS_OK);
    (void)status;
    source->shape = shape_of(&source->url);
    source->session.url = &source->url;
    source->session.consumer = arena_dup(&source->thread.arena, options->instance);
    source->session.clock = options->clock;
    source->session.rng = &source->rng;
    source->session.inflight = &source->inflight;
    rng_seed(&source->rng, options->seed);
    redis_inflight_init(&source->inflight, options);
    return &source->thread.broker;
}
