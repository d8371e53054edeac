#include "engine/edit.h"

#include <string.h>

struct edit {
    struct jq_job job;
    struct flight *flight;
    struct mono began;
    bool failed; /* the flight's outcome says how */
};

static struct edit *edit_of(struct flight *flight) {
    return CONTAINER_OF(flight->edit, struct edit, job);
}

/* The drain may have ended meanwhile: then nothing is handed over any more. */
static void open_edited(struct engine *engine, struct engine_post *post) {
    struct flight *flight = CONTAINER_OF(post, struct flight, post);
    struct edit *edit = edit_of(flight);
    flight->edit = NULL;
    if (!edit->failed && !engine->cancelled) {
        flight_start(flight);
        return;
    }
    if (!edit->failed)
        flight->outcome = (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    flight->outcome.duration_ms = engine->now.mono.ms - edit->began.ms;
    question_outcome(flight);
}

static void fail(struct flight *flight, struct bytes why) {
    struct arena *arena = &flight->held->arena;
    edit_of(flight)->failed = true;
    flight->outcome =
        (struct outcome){.ending = ENDING_FAILED,
                         .kind = KIND_EDIT,
                         .error_type = BYTES("edit"),
                         .error_message = arena_dup(arena, bytes_clip(why, OUTCOME_MESSAGE_MAX)),
                         .retry_after_ms = -1};
}

/* From jq's thread. Until the mail is read nobody else touches the flight, so its arena may take
 * the text. Nobody means `null` in place of a body: it is what a field gives that is not there. */
static void on_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                    const struct err *err) {
    struct flight *flight = CONTAINER_OF(job, struct edit, job)->flight;
    (void)truthy;
    if (status != STATUS_OK)
        fail(flight, bytes_of(err->text));
    else if (output.len == 0 || bytes_is(output, "null"))
        fail(flight, BYTES("the edit gives nothing, or null, in place of the body"));
    else
        flight->call.body = arena_dup(&flight->held->arena, output);
    engine_post(flight->queue->engine, &flight->post);
}

/* An empty body is a text that jq refuses; none at all would only compile the program. */
void edit_begin(struct flight *flight) {
    struct engine *engine = flight->queue->engine;
    struct jq *jq = engine->options.jq;
    struct bytes body = flight->held->body;
    struct edit *edit = arena_alloc(&flight->held->arena, sizeof *edit);
    *edit = (struct edit){.job = {.program = flight_handler(flight)->edit,
                                  .input = body.len ? body : BYTES(""),
                                  .done = on_done},
                          .flight = flight,
                          .began = engine->now.mono};
    flight->edit = &edit->job;
    flight->post.open = open_edited;
    jq->vtable->start(jq, &edit->job);
}
