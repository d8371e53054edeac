#include "engine/publish.h"

#include <stdio.h>

#include "base/log.h"
#include "engine/removal.h"

enum {
    PUBLISH_RETRY_FIRST_MS = 100, /* after a sink that took nothing; doubles … */
    PUBLISH_RETRY_LAST_MS = 5000, /* … up to this */
    TROUBLE_MAX = 400,            /* bytes of a sink's words */
    LETTER_ID_MAX = 64,
    ROUND_SIZE = LETTER_ID_MAX + 32,
};

struct publication {
    struct sink_item item;
    struct sink *sink;
    struct flight *flight;
    enum publish_what what;
    publish_then *then;
    struct heap_node again; /* in engine->publications while it waits */
    int64_t retry_ms;
    bool once; /* not asked again */
    bool taken;
    struct err err;
};

static const struct {
    const char *one, *all;
} words[] = {
    [PUBLISH_ANSWER] = {"an answer", "answers are"},
    [PUBLISH_LETTER] = {"a letter", "letters are"},
    [PUBLISH_ORIGIN] = {"a letter for its origin", "letters for their origin are"},
};

static void publish(struct publication *publication) {
    publication->sink->vtable->publish(publication->sink, &publication->item);
}

struct bytes publish_round(struct flight *flight, const char *end) {
    const struct envelope *envelope = &flight->held->envelope;
    char name[ROUND_SIZE];
    snprintf(name, sizeof name, "%.*s:%u%s",
             BYTES_ARG(bytes_clip(envelope->letter_id, LETTER_ID_MAX)), (unsigned)envelope->replays,
             end);
    return arena_dup(&flight->held->arena, bytes_of(name));
}

bool publish_refused(enum publish_what what, const struct err *err) {
    return what != PUBLISH_ORIGIN && err->status == STATUS_TOO_LARGE;
}

static bool is_refused(const struct publication *publication) {
    return !publication->taken && publish_refused(publication->what, &publication->err);
}

/* Of an answer the letter tells that its message becomes. */
static void note_refusal(const struct publication *publication) {
    struct queue *queue = publication->flight->queue;
    if (publication->what != PUBLISH_LETTER)
        return;
    log_about(LOG_ERROR, QUEUE_ABOUT(queue), "letter %.*s is not in its mirror: %s",
              BYTES_ARG(publication->flight->held->envelope.letter_id), publication->err.text);
    queue->unmirrored = publication->err;
}

static void note_trouble(const struct publication *publication) {
    struct queue *queue = publication->flight->queue;
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

/* Of letters for their origin the replay tells. */
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
    publication->again.tie = publication->flight->held->seq;
    publication->retry_ms = publication->retry_ms * 2 < PUBLISH_RETRY_LAST_MS
                                ? publication->retry_ms * 2
                                : PUBLISH_RETRY_LAST_MS;
    heap_insert(&engine->publications, &publication->again);
}

static void end(struct publication *publication) {
    struct flight *flight = publication->flight;
    flight->publication = NULL;
    publication->then(flight, publication->taken, &publication->err);
}

static void open_published(struct engine *engine, struct engine_post *post) {
    struct publication *publication = CONTAINER_OF(post, struct flight, post)->publication;
    bool refused = is_refused(publication);
    if (refused)
        note_refusal(publication);
    else
        note_trouble(publication);
    if (publication->taken || publication->once || refused || engine->cancelled) {
        end(publication);
        return;
    }
    removal_postponed(publication->flight, &publication->err);
    wait_a_little(engine, publication);
}

static void on_done(struct sink_item *item, enum status status, const struct err *err) {
    struct publication *publication = CONTAINER_OF(item, struct publication, item);
    publication->taken = status == STATUS_OK;
    if (!publication->taken)
        publication->err = *err;
    engine_post(publication->flight->queue->engine, &publication->flight->post);
}

static void begin(struct flight *flight, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then, bool once) {
    struct publication *publication = arena_alloc(&flight->held->arena, sizeof *publication);
    *publication = (struct publication){.item = item,
                                        .sink = sink,
                                        .flight = flight,
                                        .what = what,
                                        .then = then,
                                        .once = once,
                                        .retry_ms = PUBLISH_RETRY_FIRST_MS};
    publication->item.done = on_done;
    flight->publication = publication;
    flight->post.open = open_published;
    publish(publication);
}

void publish_begin(struct flight *flight, struct sink *sink, enum publish_what what,
                   struct sink_item item, publish_then *then) {
    begin(flight, sink, what, item, then, false);
}

void publish_once(struct flight *flight, struct sink *sink, enum publish_what what,
                  struct sink_item item, publish_then *then) {
    begin(flight, sink, what, item, then, true);
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

void publish_drop(struct flight *flight) {
    if (flight->publication)
        heap_remove(&flight->queue->engine->publications, &flight->publication->again);
}
