/* GET /readyz: whether the store can commit.
 *
 * What the store knows of that is how its last commit went. Where nobody sends anything to a server
 * that is not ready there is no next one, so whoever asks after a failure has the store try: one
 * commit, as large as a large message, that changes nothing. */
#include "server/call.h"

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

static void put_halted(struct json_out *json, struct engine *engine) {
    json_key(json, "halted");
    json_open(json, '[');
    size_t count = engine_queue_count(engine);
    for (size_t i = 0; i < count; i++) {
        struct engine_queue_view view;
        engine_view_at(engine, i, &view);
        if (view.state != QUEUE_HALTED)
            continue;
        json_open(json, '{');
        json_key(json, "queue");
        json_put_str(json, view.name);
        json_key(json, "why");
        json_put_str(json, view.why);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void answer_ready(struct request *request) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "status");
    json_put_str(&json, "ready");
    put_halted(&json, request->server->options.engine);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void answer_trouble(struct request *request, const struct err *trouble) {
    request_problem(request, STATUS_BUSY, "the store cannot commit: %s", trouble->text);
}

/* From the store's thread. */
static void tried(struct store_commit *commit, enum status status) {
    struct request *request = ((struct trial *)commit->arg)->request;
    atomic_store(&request->server->trying, false);
    if (status != STATUS_OK) {
        answer_trouble(request, &commit->err);
        return;
    }
    request->work = answer_ready;
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

void call_ready(struct request *request) {
    struct server *server = request->server;
    struct store_health health;
    server->options.store->vtable->health(server->options.store, &health);
    if (health.writable)
        answer_ready(request);
    else if (atomic_exchange(&server->trying, true))
        answer_trouble(request, &health.trouble);
    else
        try_store(request);
}
