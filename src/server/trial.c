#include "server/trial.h"

#include <stdlib.h>

#include "base/memory.h"
#include "server/state.h"

/* A smaller one may fit where those that failed do not. */
enum { TRIAL_BYTES_MAX = 4 << 20 };

struct trial {
    struct server *server;
    struct store_commit commit;
    struct store_op ops[2];
};

/* From the store's thread. The server does not stop before: it counts as suspended. */
static void tried(struct store_commit *commit, enum status status) {
    (void)status;
    struct trial *trial = commit->arg;
    struct server *server = trial->server;
    free(trial);
    atomic_store(&server->trying, false);
    pthread_mutex_lock(&server->mutex);
    server->suspended--;
    pthread_cond_broadcast(&server->fewer);
    pthread_mutex_unlock(&server->mutex);
}

/* Kept and dropped in the same commit. */
static void try_store(struct server *server) {
    uint64_t size = server->options.max_body;
    size = size < TRIAL_BYTES_MAX ? size : TRIAL_BYTES_MAX;
    char *nothing = memory_array(size, 1);
    struct store_keep keep = {.space = SPACE_ARRIVALS, .name = BYTES("trial")};
    struct trial *trial = memory_new(sizeof *trial);
    *trial = (struct trial){.server = server, .commit = {.count = 2, .done = tried}};
    trial->ops[1] = trial->ops[0] = (struct store_op){.kind = STORE_KEEP, .keep = keep};
    trial->ops[0].keep.value = (struct bytes){nothing, size};
    trial->commit.ops = trial->ops;
    trial->commit.arg = trial;
    server->options.store->vtable->submit(server->options.store, &trial->commit);
    free(nothing);
}

void trial_begin(struct server *server) {
    struct store_health health;
    server->options.store->vtable->health(server->options.store, &health);
    if (health.writable || atomic_exchange(&server->trying, true))
        return;
    pthread_mutex_lock(&server->mutex);
    bool may = !server->closing;
    server->suspended += may;
    pthread_mutex_unlock(&server->mutex);
    if (may)
        try_store(server);
}
