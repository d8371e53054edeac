#include "app/reload.h"

#include <semaphore.h>

struct reload {
    struct engine_request request;
    struct engine_rules rules;
    sem_t *answered;
    enum status status;
};

static void on_reloaded(struct engine_request *request, enum status status) {
    struct reload *reload = request->arg;
    reload->status = status;
    sem_post(reload->answered);
}

/* A handler that becomes `lease` does so at a restart; until then the old one keeps its limit. */
static struct engine_rules reloaded_rules(const struct config_queue *started,
                                          const struct config_queue *queue) {
    struct engine_rules rules = config_rules(queue);
    if (rules.concurrency == ENGINE_UNLIMITED)
        rules.concurrency = started->concurrency;
    return rules;
}

enum status reload_queue(struct engine *engine, const struct config_queue *started,
                         const struct config_queue *queue, struct err *err) {
    sem_t answered;
    sem_init(&answered, 0, 0);
    struct reload reload = {.rules = reloaded_rules(started, queue), .answered = &answered};
    reload.request = (struct engine_request){.kind = ENGINE_RELOAD,
                                             .queue = queue->name,
                                             .done = on_reloaded,
                                             .arg = &reload,
                                             .rules = &reload.rules};
    engine_ask(engine, &reload.request);
    while (sem_wait(&answered) != 0)
        continue;
    sem_destroy(&answered);
    if (reload.status != STATUS_OK)
        *err = reload.request.err;
    return reload.status;
}
