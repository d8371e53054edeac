#include "server/api/store_probe.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "server/server_state.h"

/* A smaller commit may fit where the failed ones do not. */
enum { STORE_PROBE_BYTES_MAX = 4 << 20 };

struct store_probe {
    struct server *server;
    struct store_commit commit;
    struct store_op ops[2];
};

/* Runs on the store's thread. The server does not stop before, because the probe counts as
 * suspended. */
static void tried(struct store_commit *commit, enum status status) {
    (void)status;
    struct store_probe *probe = commit->arg;
    struct server *server = probe->server;
    free(probe);
    atomic_store(&server->trying, false);
    pthread_mutex_lock(&server->mutex);
    assert(server->suspended > 0);
    server->suspended--;
    pthread_cond_broadcast(&server->fewer);
    pthread_mutex_unlock(&server->mutex);
}

/* The note is kept and dropped in the same commit. */
static void try_store(struct server *server) {
    uint64_t size = server->options.max_body;
    size = size < STORE_PROBE_BYTES_MAX ? size : STORE_PROBE_BYTES_MAX;
    char *nothing = memory_array(size, 1);
    struct store_keep keep = {.space = SPACE_ARRIVALS, .name = BYTES("trial")};
    struct store_probe *probe = memory_new(sizeof *probe);
    *probe = (struct store_probe){.server = server, .commit = {.count = 2, .done = tried}};
    probe->ops[1] = probe->ops[0] = (struct store_op){.kind = STORE_KEEP, .keep = keep};
    probe->ops[0].keep.value = (struct bytes){nothing, size};
    probe->commit.ops = probe->ops;
    probe->commit.arg = probe;
    server->options.store->vtable->submit(server->options.store, &probe->commit);
    free(nothing);
}

void store_probe_begin(struct server *server) {
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
