#include "server/trial.h"

#include <stdlib.h>

#include "base/memory.h"
#include "server/request.h"

/* A smaller one may fit where those that failed do not. */
enum { TRIAL_BYTES_MAX = 4 << 20 };

/* In the request's arena. */
struct trial {
    struct request *request;
    struct store_commit commit;
    struct store_op ops[2];
};

/* From the store's thread, which knows by now how it went. */
static void tried(struct store_commit *commit, enum status status) {
    (void)status;
    struct request *request = ((struct trial *)commit->arg)->request;
    atomic_store(&request->server->trying, false);
    workers_pass(request->server->workers, request);
}

/* Kept and dropped in the same commit. */
static void try_store(struct request *request) {
    struct server *server = request->server;
    uint64_t size = server->options.max_body;
    size = size < TRIAL_BYTES_MAX ? size : TRIAL_BYTES_MAX;
    char *nothing = memory_array(size, 1);
    struct store_keep keep = {.space = SPACE_ARRIVALS, .name = BYTES("trial")};
    struct trial *trial = arena_alloc(&request->arena, sizeof *trial);
    *trial = (struct trial){.request = request, .commit = {.count = 2, .done = tried}};
    trial->ops[1] = trial->ops[0] = (struct store_op){.kind = STORE_KEEP, .keep = keep};
    trial->ops[0].keep.value = (struct bytes){nothing, size};
    trial->commit.ops = trial->ops;
    trial->commit.arg = trial;
    server->options.store->vtable->submit(server->options.store, &trial->commit);
    free(nothing);
}

void trial_before(struct request *request, void (*answer)(struct request *request)) {
    struct server *server = request->server;
    struct store_health health;
    server->options.store->vtable->health(server->options.store, &health);
    if (health.writable || atomic_exchange(&server->trying, true)) {
        answer(request);
        return;
    }
    request->work = answer;
    try_store(request);
}
