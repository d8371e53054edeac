/* exporter: a queue of spans and a state machine with one request in flight. `mutex` guards the
 * queue that record fills; everything else belongs to the exporter's thread. */
#include "telemetry/exporter.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/log.h"
#include "base/thread/mailbox.h"
#include "base/memory.h"
#include "core/backoff.h"

enum {
    REQUEST_MAX = 32 << 20, /* bytes; a batch of the longest spans is smaller */
    TROUBLE_SIZE = 256,
};

static const struct retry_policy backoff = {.base_ms = 500,
                                            .cap_ms = 30 * 1000,
                                            .jitter = JITTER_EQUAL,
                                            .shape = BACKOFF_EXPONENTIAL,
                                            .retry_after_cap_ms = 5 * 60 * 1000};

/* A copy of a span; its texts follow it. */
struct span_batch {
    struct list link;
    struct span span;
    char texts[];
};

/* How a request ended. */
enum ended { ENDED_TAKEN, ENDED_LATER, ENDED_REFUSED };

struct exporter {
    struct spans spans;
    struct exporter_options options;
    struct rng rng;
    struct mailbox mailbox;
    _Atomic uint64_t sent, dropped;
    atomic_bool stopping;

    pthread_mutex_t mutex; /* guards the next three */
    struct list arriving;  /* kept */
    size_t arriving_count;
    size_t held; /* spans in memory */

    /* Used by the exporter's thread alone. */
    struct list waiting;
    size_t waiting_count;
    struct mono flush_at; /* while spans wait: the time at which they are sent */
    struct list batch;    /* spans of the request in flight, or to be retried */
    size_t batch_count;
    struct buf body;
    struct call call;
    bool calling;
    uint32_t failures; /* consecutive */
    bool refusing;     /* the last batch was rejected permanently */
    struct mono again; /* earliest time of the next request */
    struct mono stop_until;
    bool stops, over;

    /* The result of the request: set on the handler's thread before the mail is posted. */
    struct mail ended_mail;
    enum ended ended;
    int64_t retry_after_ms;
    struct otlp_answer answer;
    char trouble[TROUBLE_SIZE];
};

/* ---- recording, from the engine's thread ---- */

static size_t texts_size(const struct span *span) {
    size_t size = span->name.len + span->trace_state.len + span->trouble.len;
    for (size_t i = 0; i < span->attribute_count; i++)
        size += span->attributes[i].text.len;
    for (size_t i = 0; i < span->link_count; i++)
        size += span->links[i].trace_state.len;
    return size;
}

static void move_text(struct bytes *text, char **to) {
    if (text->len > 0)
        memcpy(*to, text->ptr, text->len);
    if (text->ptr)
        text->ptr = *to;
    *to += text->len;
}

static struct span_batch *keep(const struct span *span) {
    struct span_batch *kept = memory_new(sizeof *kept + texts_size(span) + 1);
    char *to = kept->texts;
    kept->span = *span;
    move_text(&kept->span.name, &to);
    move_text(&kept->span.trace_state, &to);
    move_text(&kept->span.trouble, &to);
    for (size_t i = 0; i < span->attribute_count; i++)
        move_text(&kept->span.attributes[i].text, &to);
    for (size_t i = 0; i < span->link_count; i++)
        move_text(&kept->span.links[i].trace_state, &to);
    return kept;
}

/* Wakes the thread for the first span, to start the timer, and for a full batch; not for each span.
 */
static void record(struct spans *spans, const struct span *span) {
    struct exporter *exporter = CONTAINER_OF(spans, struct exporter, spans);
    struct span_batch *kept = keep(span);
    pthread_mutex_lock(&exporter->mutex);
    bool room = exporter->held < EXPORTER_HELD_MAX;
    if (room) {
        exporter->held++;
        exporter->arriving_count++;
        list_push_back(&exporter->arriving, &kept->link);
    }
    size_t count = exporter->arriving_count;
    pthread_mutex_unlock(&exporter->mutex);
    if (!room) {
        atomic_fetch_add(&exporter->dropped, 1);
        free(kept);
    } else if (count == 1 || count == EXPORTER_BATCH_MAX) {
        mailbox_ring(&exporter->mailbox);
    }
}

static void counts(struct spans *spans, struct spans_counts *out) {
    struct exporter *exporter = CONTAINER_OF(spans, struct exporter, spans);
    *out = (struct spans_counts){atomic_load(&exporter->sent), atomic_load(&exporter->dropped)};
}

/* ---- ending ---- */

static void forget(struct exporter *exporter, struct list *list, size_t *count) {
    pthread_mutex_lock(&exporter->mutex);
    assert(exporter->held >= *count);
    exporter->held -= *count;
    pthread_mutex_unlock(&exporter->mutex);
    for (struct list *node; (node = list_pop_front(list));)
        free(CONTAINER_OF(node, struct span_batch, link));
    *count = 0;
}

static void drop(struct exporter *exporter, struct list *list, size_t *count) {
    atomic_fetch_add(&exporter->dropped, *count);
    forget(exporter, list, count);
}

/* ---- the answer ---- */

static bool is_passing(const struct outcome *outcome) {
    static const int statuses[] = {429, 502, 503, 504};
    if (outcome->kind != KIND_STATUS)
        return true;
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (outcome->status == statuses[i])
            return true;
    return false;
}

/* Called on the handler's thread. */
static void on_done(struct call *call, const struct outcome *outcome) {
    struct exporter *exporter = CONTAINER_OF(call, struct exporter, call);
    bool ok = outcome->ending == ENDING_OK;
    exporter->ended = ok ? ENDED_TAKEN : is_passing(outcome) ? ENDED_LATER : ENDED_REFUSED;
    exporter->retry_after_ms = outcome->retry_after_ms;
    otlp_read_answer(ok ? outcome->answer : BYTES_NONE, &exporter->answer);
    snprintf(exporter->trouble, sizeof exporter->trouble, "%.*s",
             BYTES_ARG(bytes_clip(outcome->error_message, TROUBLE_SIZE - 1)));
    mailbox_post(&exporter->mailbox, &exporter->ended_mail);
}

static void taken(struct exporter *exporter) {
    assert(exporter->batch_count > 0);
    uint64_t count = exporter->batch_count, rejected = exporter->answer.rejected;
    if (rejected > count)
        rejected = count;
    if (rejected > 0 || exporter->answer.text[0])
        log_warn("telemetry: the receiver rejected %llu of %llu spans: %s",
                 (unsigned long long)rejected, (unsigned long long)count, exporter->answer.text);
    if (exporter->failures > 0 || exporter->refusing)
        log_info("telemetry: the receiver accepts spans again; %llu spans were dropped so far",
                 (unsigned long long)atomic_load(&exporter->dropped));
    exporter->failures = 0;
    exporter->refusing = false;
    atomic_fetch_add(&exporter->sent, count - rejected);
    atomic_fetch_add(&exporter->dropped, rejected);
    forget(exporter, &exporter->batch, &exporter->batch_count);
}

static void refused(struct exporter *exporter) {
    if (!exporter->refusing)
        log_warn("telemetry: the receiver rejects spans, dropping them: %s", exporter->trouble);
    exporter->refusing = true;
    drop(exporter, &exporter->batch, &exporter->batch_count);
}

static void later(struct exporter *exporter, struct mono now) {
    exporter->failures++;
    int64_t delay_ms =
        backoff_delay_ms(&backoff, exporter->failures, 0, exporter->retry_after_ms, &exporter->rng);
    exporter->again = mono_after(now, delay_ms);
    if (exporter->failures == 1)
        log_warn("telemetry: cannot send spans, retrying: %s", exporter->trouble);
}

static void read_answer(struct exporter *exporter, struct mono now) {
    if (!mailbox_take(&exporter->mailbox))
        return;
    assert(exporter->calling);
    exporter->calling = false;
    if (exporter->ended == ENDED_TAKEN)
        taken(exporter);
    else if (exporter->ended == ENDED_REFUSED)
        refused(exporter);
    else
        later(exporter, now);
}

/* ---- sending ---- */

static void take_arrivals(struct exporter *exporter, struct mono now) {
    if (exporter->waiting_count == 0)
        exporter->flush_at = mono_after(now, EXPORTER_DELAY_MS);
    pthread_mutex_lock(&exporter->mutex);
    for (struct list *node; (node = list_pop_front(&exporter->arriving));)
        list_push_back(&exporter->waiting, node);
    exporter->waiting_count += exporter->arriving_count;
    exporter->arriving_count = 0;
    pthread_mutex_unlock(&exporter->mutex);
}

static void fill_batch(struct exporter *exporter, struct mono now) {
    assert(exporter->batch_count == 0);
    while (exporter->batch_count < EXPORTER_BATCH_MAX && exporter->waiting_count > 0) {
        list_push_back(&exporter->batch, list_pop_front(&exporter->waiting));
        exporter->batch_count++;
        exporter->waiting_count--;
    }
    exporter->flush_at = mono_after(now, EXPORTER_DELAY_MS);
}

static void put_batch(struct exporter *exporter) {
    const struct span *list[EXPORTER_BATCH_MAX];
    size_t count = 0;
    LIST_EACH(node, &exporter->batch) {
        list[count++] = &CONTAINER_OF(node, struct span_batch, link)->span;
    }
    buf_clear(&exporter->body);
    otlp_put_request(&exporter->options.origin, list, count, &exporter->body);
    assert(!exporter->body.overflow);
}

static void send(struct exporter *exporter, struct instant now) {
    assert(!exporter->calling);
    struct handler *handler = exporter->options.handler;
    if (exporter->batch_count == 0)
        fill_batch(exporter, now.mono);
    put_batch(exporter);
    exporter->call = (struct call){.queue = BYTES("telemetry"),
                                   .id = BYTES("spans"),
                                   .body = buf_view(&exporter->body),
                                   .content_type = BYTES(OTLP_CONTENT_TYPE),
                                   .attempt = exporter->failures + 1,
                                   .first_attempt_at = now.wall,
                                   .wants_answer = true,
                                   .done = on_done};
    exporter->calling = true;
    handler->vtable->start(handler, &exporter->call);
}

/* When the next request is due; MONO_NEVER: there is nothing to send, or one is in flight. */
static struct mono next_send(const struct exporter *exporter) {
    if (exporter->calling || exporter->batch_count + exporter->waiting_count == 0)
        return MONO_NEVER;
    bool whole = exporter->batch_count > 0 || exporter->waiting_count >= EXPORTER_BATCH_MAX;
    struct mono at = whole || exporter->stops ? (struct mono){0} : exporter->flush_at;
    return at.ms < exporter->again.ms ? exporter->again : at;
}

/* ---- stopping ---- */

/* Sends what is left; the first failure, or EXPORTER_STOP_MS, ends it, and the rest is dropped. */
static void stop(struct exporter *exporter, struct mono now) {
    struct handler *handler = exporter->options.handler;
    if (!exporter->stops) {
        exporter->stops = true;
        exporter->stop_until = mono_after(now, EXPORTER_STOP_MS);
        exporter->failures = 0;
        exporter->again = now;
    }
    bool late = now.ms >= exporter->stop_until.ms;
    if (late && exporter->calling)
        handler->vtable->cancel(handler, &exporter->call);
    if (exporter->calling)
        return;
    size_t left = exporter->batch_count + exporter->waiting_count;
    if (left > 0 && !late && exporter->failures == 0)
        return;
    if (left > 0)
        log_warn("telemetry: stopped with %zu unsent spans", left);
    drop(exporter, &exporter->batch, &exporter->batch_count);
    drop(exporter, &exporter->waiting, &exporter->waiting_count);
    exporter->over = true;
}

struct mono exporter_turn(struct exporter *exporter, struct instant now) {
    bool stopping = atomic_load(&exporter->stopping); /* before the recorded spans are taken */
    read_answer(exporter, now.mono);
    take_arrivals(exporter, now.mono);
    if (stopping)
        stop(exporter, now.mono);
    if (!exporter->over && next_send(exporter).ms <= now.mono.ms)
        send(exporter, now);
    struct mono next = next_send(exporter);
    if (exporter->stops && now.mono.ms < exporter->stop_until.ms)
        next = mono_earlier(next, exporter->stop_until);
    return next;
}

void exporter_run(struct exporter *exporter) {
    struct clock *clock = exporter->options.clock;
    while (!exporter->over) {
        struct mono next = exporter_turn(exporter, clock_now(clock));
        if (!exporter->over)
            mailbox_wait(&exporter->mailbox, next);
    }
}

void exporter_stop(struct exporter *exporter) {
    atomic_store(&exporter->stopping, true);
    mailbox_ring(&exporter->mailbox);
}

bool exporter_is_over(const struct exporter *exporter) {
    return exporter->over;
}

/* ---- create and free ---- */

struct exporter *exporter_new(const struct exporter_options *options) {
    static const struct spans_vtable vtable = {.record = record, .counts = counts};
    struct exporter *exporter = memory_new(sizeof *exporter);
    exporter->spans = (struct spans){&vtable, options->sample_permille};
    exporter->options = *options;
    rng_seed(&exporter->rng, options->seed);
    mailbox_init(&exporter->mailbox);
    pthread_mutex_init(&exporter->mutex, NULL);
    list_init(&exporter->arriving);
    list_init(&exporter->waiting);
    list_init(&exporter->batch);
    buf_init_heap(&exporter->body, REQUEST_MAX);
    return exporter;
}

struct spans *exporter_spans(struct exporter *exporter) {
    return &exporter->spans;
}

void exporter_free(struct exporter *exporter) {
    if (!exporter)
        return;
    assert(!exporter->calling);
    forget(exporter, &exporter->batch, &exporter->batch_count);
    forget(exporter, &exporter->waiting, &exporter->waiting_count);
    forget(exporter, &exporter->arriving, &exporter->arriving_count);
    buf_free(&exporter->body);
    pthread_mutex_destroy(&exporter->mutex);
    mailbox_free(&exporter->mailbox);
    free(exporter);
}
