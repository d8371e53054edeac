#include "store_model.h"

#include <assert.h>
#include <string.h>

void model_apply(struct model *model, const struct model_commit *commit) {
    for (size_t i = 0; i < commit->count; i++)
        model->messages[commit->changes[i].id] = commit->changes[i].after;
}

void model_answer(struct model *model, bool ok) {
    assert(model->open_count > 0);
    if (ok)
        model_apply(model, &model->open[0]);
    model->open_count--;
    memmove(&model->open[0], &model->open[1], model->open_count * sizeof model->open[0]);
}

struct model_message model_expected(const struct model *model, size_t id) {
    struct model_message message = model->messages[id];
    for (size_t i = 0; i < model->open_count; i++) {
        for (size_t j = 0; j < model->open[i].count; j++) {
            if (model->open[i].changes[j].id == id)
                message = model->open[i].changes[j].after;
        }
    }
    return message;
}

static bool same(const struct model_message *a, const struct model_message *b) {
    if (!a->held || !b->held)
        return a->held == b->held;
    return a->state == b->state && a->version == b->version && a->body == b->body &&
           a->size == b->size && a->why == b->why;
}

static bool equals(const struct model *model, const struct model_message seen[MODEL_IDS]) {
    for (size_t id = 0; id < MODEL_IDS; id++) {
        if (!same(&model->messages[id], &seen[id]))
            return false;
    }
    return true;
}

static bool happened(const struct model_commit *commit,
                     const struct model_message seen[MODEL_IDS]) {
    for (size_t i = 0; i < commit->count; i++) {
        if (!same(&commit->changes[i].after, &seen[commit->changes[i].id]))
            return false;
    }
    return true;
}

bool model_adopt(struct model *model, const struct model_message seen[MODEL_IDS]) {
    while (!equals(model, seen)) {
        if (model->open_count == 0)
            return false;
        model_answer(model, !model->open[0].alone || happened(&model->open[0], seen));
    }
    model->open_count = 0;
    return true;
}
