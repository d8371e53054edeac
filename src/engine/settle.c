#include "engine/settle.h"

#include "engine/feature.h"
#include "engine/source.h"

void settle_let_go(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    if (attempt->state == ATTEMPT_POSTPONED)
        queue->postponed--;
    queue->settling--;
    queue->engine->settling--;
    queue->arriving -= attempt_is_arriving(attempt);
    queue_visit(queue);
    attempt_free(attempt);
}

static bool has_news(const struct attempt *attempt) {
    if (attempt->duplicate || attempt->skipped)
        return false;
    return attempt->op != STORE_FORGET || attempt->spill == SPILL_SYNCED;
}

void settle_renamed(struct attempt *attempt) {
    struct engine *engine = attempt->queue->engine;
    source_rename(attempt);
    list_remove(&attempt->recording);
    list_push_back(&engine->deciding, &attempt->recording);
}

void settle_report(struct attempt *attempt, enum status status) {
    struct engine_request *request = attempt->report;
    struct engine *engine = attempt->queue->engine;
    struct message *held = NULL;
    if (status == STATUS_OK && attempt->duplicate)
        status = letters_get(engine->store->letters, attempt->queue->name,
                             attempt->held->envelope.id, &held, &request->err);
    else {
        held = attempt->held;
        attempt->held = NULL;
    }
    request->held_take = held;
    request->done(request, status);
}

void settle_attempt(struct attempt *attempt) {
    struct queue *queue = attempt->queue;
    if (attempt->duplicate && source_is_another(attempt)) {
        settle_renamed(attempt);
        return;
    }
    if (FEATURES_ANY(lives_on, attempt))
        return;
    if (has_news(attempt))
        notice_letter(attempt);
    FEATURES_TELL(settled, attempt);
    if (attempt->duplicate && !attempt->report)
        queue->results[RESULT_DUPLICATE]++;
    if (attempt->report)
        settle_report(attempt, STATUS_OK);
    else if (!FEATURES_ANY(keeps_source, attempt) &&
             (source_is_fresh(attempt) || !source_is_server(queue)))
        queue->broker->vtable->settle(queue->broker, attempt->held);
    settle_let_go(attempt);
}
