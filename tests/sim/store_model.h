/* store_model: what a store must hold, kept beside it by a test.
 *
 * A commit that was answered OK is in the model. One that was not answered when the power went may
 * have happened or not, but whole, and only if those before it did, but for those that can fail
 * alone. */
#ifndef STORE_MODEL_H
#define STORE_MODEL_H

#include "core/envelope/envelope.h"

/* Messages first, then texts that are kept beside them: those have a version alone. */
enum { MODEL_MESSAGES = 12, MODEL_KEPT = 4, MODEL_IDS = MODEL_MESSAGES + MODEL_KEPT };
enum { MODEL_COMMIT_MAX = 4, MODEL_OPEN_MAX = 64 };

struct model_message {
    bool held;
    enum state state;
    uint32_t version; /* stored as the number of attempts */
    uint32_t body;    /* stored as text */
    uint32_t size;    /* of the body, in bytes */
    bool in_file;     /* the body is in a file of its own, as seen; not of the promise */
    uint32_t why;     /* of the last mark, stored as text; 0: none since its envelope was written */
};

struct model_commit {
    struct {
        size_t id;
        struct model_message after;
    } changes[MODEL_COMMIT_MAX];
    size_t count;
    bool alone; /* it has a file of its own to write: those behind it may succeed without it */
};

struct model {
    struct model_message messages[MODEL_IDS];
    struct model_commit open[MODEL_OPEN_MAX]; /* submitted, not answered, in order */
    size_t open_count;
    uint32_t versions;
};

void model_apply(struct model *model, const struct model_commit *commit);
/* The first open commit was answered. */
void model_answer(struct model *model, bool ok);
/* The message as it will be when every open commit is answered OK. */
struct model_message model_expected(const struct model *model, size_t id);
/* True when `seen` is the model with some number of open commits; they are applied then. */
bool model_adopt(struct model *model, const struct model_message seen[MODEL_IDS]);

#endif
