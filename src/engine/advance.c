/* Moves an attempt on after the event that it waited for has happened on another thread. */
#include <assert.h>

#include "engine/attempt/edit.h"
#include "engine/publish.h"

void advance_attempt(struct engine *engine, struct engine_post *post) {
    struct attempt *attempt = CONTAINER_OF(post, struct attempt, post);
    switch (attempt->state) {
    case ATTEMPT_EDITING:
        if (edit_ended(engine, attempt))
            attempt_start(attempt);
        else
            evaluate_rules(attempt);
        return;
    case ATTEMPT_CALLING:
        evaluate_rules(attempt);
        return;
    case ATTEMPT_REPLYING:
    case ATTEMPT_MIRRORING:
    case ATTEMPT_SENDING:
        publish_ended(engine, attempt);
        return;
    case ATTEMPT_NEW:
    case ATTEMPT_BATCHED:
    case ATTEMPT_LEASED:
    case ATTEMPT_ANSWERED:
    case ATTEMPT_ASKING:
    case ATTEMPT_JUDGING:
    case ATTEMPT_RETURNING:
    case ATTEMPT_DECIDED:
    case ATTEMPT_COMMITTING:
    case ATTEMPT_POSTPONED:
    case ATTEMPT_STATES:
        break;
    }
    assert(!"an attempt was posted that waits for nobody");
}
