#include "engine/attempt/edit.h"

#include <string.h>

struct edit {
    struct jq_job job;
    struct attempt *attempt;
    struct mono began;
    bool failed; /* the attempt's outcome has the reason */
};

static struct edit *edit_of(struct attempt *attempt) {
    return CONTAINER_OF(attempt->edit, struct edit, job);
}

/* The drain may have ended meanwhile: then nothing is handed over any more. */
bool edit_ended(struct engine *engine, struct attempt *attempt) {
    struct edit *edit = edit_of(attempt);
    attempt->edit = NULL;
    if (!edit->failed && !engine->cancelled) {
        return true;
    }
    if (!edit->failed)
        attempt->outcome = (struct outcome){.ending = ENDING_INTERRUPTED, .retry_after_ms = -1};
    attempt->outcome.duration_ms = engine->now.mono.ms - edit->began.ms;
    return false;
}

static void fail(struct attempt *attempt, struct bytes why) {
    struct arena *arena = &attempt->held->arena;
    edit_of(attempt)->failed = true;
    attempt->outcome =
        (struct outcome){.ending = ENDING_FAILED,
                         .kind = KIND_EDIT,
                         .error_type = BYTES("edit"),
                         .error_message = arena_dup(arena, bytes_clip(why, OUTCOME_MESSAGE_MAX)),
                         .retry_after_ms = -1};
}

/* Runs on jq's thread. No other thread touches the attempt until the engine opens the post, so its
 * arena may take the text. A result of `null` is a failure: it is the value of a field that is
 * missing, and never meant as a body. */
static void on_done(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                    const struct err *err) {
    struct attempt *attempt = CONTAINER_OF(job, struct edit, job)->attempt;
    (void)truthy;
    if (status != STATUS_OK)
        fail(attempt, bytes_of(err->text));
    else if (output.len == 0 || bytes_is(output, "null"))
        fail(attempt, BYTES("the edit gives nothing, or null, in place of the body"));
    else
        attempt->call.body = arena_dup(&attempt->held->arena, output);
    engine_post(attempt->queue->engine, &attempt->post);
}

/* An empty body is passed as an empty text, which jq refuses; no text at all would only compile the
 * program. */
void edit_begin(struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    struct jq *jq = engine->options.jq;
    struct bytes body = attempt->held->body;
    struct edit *edit = arena_alloc(&attempt->held->arena, sizeof *edit);
    *edit = (struct edit){.job = {.program = attempt_handler(attempt)->edit,
                                  .input = body.len ? body : BYTES(""),
                                  .done = on_done},
                          .attempt = attempt,
                          .began = engine->now.mono};
    attempt->edit = &edit->job;
    attempt_to(attempt, ATTEMPT_EDITING);
    jq->vtable->start(jq, &edit->job);
}
