#include "engine/publish.h"

#include <stdio.h>

#include "base/log.h"
#include "engine/feature.h"

enum {
    PUBLISH_RETRY_FIRST_MS = 100, /* first backoff after a refusal; doubles … */
    PUBLISH_RETRY_LAST_MS = 5000, /* … up to this */
    TROUBLE_MAX = 400,            /* bytes of a sink's error text */
    LETTER_ID_MAX = 64,
    ROUND_SIZE = LETTER_ID_MAX + 32,
};

struct publication {
    struct sink_item item;
    struct sink *sink;
    struct attempt *attempt;
    enum publish_what what;
    publish_then *then;
    struct heap_node again; /* in engine->publications while it backs off */
    int64_t retry_ms;
    bool once; /* not retried */
    bool taken;
    struct err err;
};

static const struct {
    const char *one, *all;
    enum attempt_state state;
} words[] = {
    [PUBLISH_ANSWER] = {"an answer", "answers are", ATTEMPT_REPLYING},
    [PUBLISH_LETTER] = {"a letter", "letters are", ATTEMPT_MIRRORING},
    [PUBLISH_ORIGIN] = {"a letter for its origin", "letters for their origin are", ATTEMPT_SENDING},
};

static void publish(struct publication *publication) {
    publication->sink->vtable->publish(publication->sink, &publication->item);
}

struct bytes publish_round(struct attempt *attempt, const char *end) {
    const struct envelope *envelope = &attempt->held->envelope;
    char name[ROUND_SIZE];
    snprintf(name, sizeof name, "%.*s:%u%s",
             BYTES_ARG(bytes_clip(envelope->letter_id, LETTER_ID_MAX)), (unsigned)envelope->replays,
             end);
    return arena_dup(&attempt->held->arena, bytes_of(name));
}

bool publish_refused(enum publish_what what, const struct err *err) {
    return what != PUBLISH_ORIGIN && err->status == STATUS_TOO_LARGE;
}

static bool is_refused(const struct publication *publication) {
    return !publication->taken && publish_refused(publication->what, &publication->err);
}

/* The refusal of an answer is not logged here, because its message becomes a letter. */
static void note_refusal(const struct publication *publication) {
    struct queue *queue = publication->attempt->queue;
    if (publication->what != PUBLISH_LETTER)
        return;
    log_about(LOG_ERROR, QUEUE_ABOUT(queue), "letter %.*s is not in its mirror: %s",
              BYTES_ARG(publication->attempt->held->envelope.letter_id), publication->err.text);
    queue->unmirrored = publication->err;
}

static void note_trouble(const struct publication *publication) {
    struct queue *queue = publication->attempt->queue;
    enum publish_what what = publication->what;
    if (publication->taken && what == PUBLISH_LETTER)
        queue->unmirrored = (struct err){STATUS_OK, ""};
    if (!publication->taken && !queue->publish_trouble[what])
        log_about(LOG_ERROR, QUEUE_ABOUT(queue), "%s could not be published%s: %s", words[what].one,
                  publication->once ? "" : ", trying again", publication->err.text);
    if (publication->taken && queue->publish_trouble[what])
        log_about(LOG_INFO, QUEUE_ABOUT(queue), "%s published again", words[what].all);
    queue->publish_trouble[what] = !publication->taken;
    if (!publication->taken && !publication->once)
        queue->publish_err = publication->err;
}

/* Letters for their origin are left out: the replay reports them. */
void publish_describe(const struct queue *queue, char *out, size_t size) {
    static const enum publish_what waiting[] = {PUBLISH_ANSWER, PUBLISH_LETTER};
    struct bytes why = bytes_clip(bytes_of(queue->publish_err.text), TROUBLE_MAX);
    struct bytes unmirrored = bytes_clip(bytes_of(queue->unmirrored.text), TROUBLE_MAX);
    if (unmirrored.len > 0)
        snprintf(out, size, "the last letter is not in its mirror: %.*s", BYTES_ARG(unmirrored));
    for (size_t i = 0; i < sizeof waiting / sizeof *waiting; i++)
        if (queue->publish_trouble[waiting[i]])
            snprintf(out, size, "%s not published, trying again: %.*s", words[waiting[i]].all,
                     BYTES_ARG(why));
}

static void wait_a_little(struct engine *engine, struct publication *publication) {
    publication->again.at = mono_after(engine->now.mono, publication->retry_ms).ms;
    publication->again.tie = publication->attempt->held->seq;
    publication->retry_ms = publication->retry_ms * 2 < PUBLISH_RETRY_LAST_MS
                                ? publication->retry_ms * 2
                                : PUBLISH_RETRY_LAST_MS;
    heap_insert(&engine->publications, &publication->again);
}

static void end(struct publication *publication) {
    struct attempt *attempt = publication->attempt;
    attempt->publication = NULL;
    publication->then(attempt, publication->taken, &publication->err);
}

void publish_ended(struct engine *engine, struct attempt *attempt) {
    struct publication *publication = attempt->publication;
    bool refused = is_refused(publication);
    if (refused)
        note_refusal(publication);
    else
        note_trouble(publication);
    if (publication->taken || publication->once || refused || engine->cancelled) {
        end(publication);
        return;
    }
    FEATURES_TELL(delayed, publication->attempt, &publication->err);
    wait_a_little(engine, publication);
}

static void on_done(struct sink_item *item, enum status status, const struct err *err) {
    struct publication *publication = CONTAINER_OF(item, struct publication, item);
    publication->taken = status == STATUS_OK;
    if (!publication->taken)
        publication->err = *err;
    engine_post(publication->attempt->queue->engine, &publication->attempt->post);
}

static void begin(struct attempt *attempt, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then, bool once) {
    struct publication *publication = arena_alloc(&attempt->held->arena, sizeof *publication);
    *publication = (struct publication){.item = item,
                                        .sink = sink,
                                        .attempt = attempt,
                                        .what = what,
                                        .then = then,
                                        .once = once,
                                        .retry_ms = PUBLISH_RETRY_FIRST_MS};
    publication->item.done = on_done;
    attempt->publication = publication;
    attempt_to(attempt, words[what].state);
    publish(publication);
}

void publish_begin(struct attempt *attempt, struct sink *sink, enum publish_what what,
                   struct sink_item item, publish_then *then) {
    begin(attempt, sink, what, item, then, false);
}

void publish_once(struct attempt *attempt, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then) {
    begin(attempt, sink, what, item, then, true);
}

void publish_again(struct engine *engine) {
    struct heap_node *node;
    while ((node = heap_first(&engine->publications)) &&
           (node->at <= engine->now.mono.ms || engine->cancelled)) {
        struct publication *publication = CONTAINER_OF(node, struct publication, again);
        heap_remove(&engine->publications, node);
        if (engine->cancelled)
            end(publication);
        else
            publish(publication);
    }
}

struct mono publish_next(const struct engine *engine) {
    return heap_next(&engine->publications);
}

void publish_drop(struct attempt *attempt) {
    if (attempt->publication)
        heap_remove(&attempt->queue->engine->publications, &attempt->publication->again);
}
