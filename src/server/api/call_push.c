/* POST /v1/queues/{queue}/messages: answered once the messages are durable. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "base/memory.h"
#include "server/api/json/push.h"
#include "server/http/request.h"

/* A push that was submitted to the store; in the request's arena. */
struct push_call {
    struct request *request;
    struct push push;
    struct store_commit commit;
    size_t *op_items; /* index of an op → index of its item */
};

static void put_ids(struct json_out *json, const struct push_call *pushing) {
    json_key(json, "ids");
    json_open(json, '[');
    for (size_t i = 0; i < pushing->push.count; i++)
        json_put(json, pushing->push.items[i].envelope.id);
    json_close(json, ']');
}

static void put_duplicates(struct json_out *json, const struct push_call *pushing) {
    json_key(json, "duplicates");
    json_open(json, '[');
    for (size_t i = 0, op = 0; i < pushing->push.count; i++) {
        const struct push_item *item = &pushing->push.items[i];
        bool duplicate = item->repeat_of || pushing->commit.ops[op].duplicate;
        if (!item->repeat_of)
            op++;
        if (duplicate)
            json_put(json, item->envelope.id);
    }
    json_close(json, ']');
}

static void refuse(struct push_call *pushing, enum status status) {
    struct request *request = pushing->request;
    const struct store_commit *commit = &pushing->commit;
    if (status != STATUS_CONFLICT) {
        request_problem(request, status, "nothing was stored: %s", commit->err.text);
        return;
    }
    const struct push_item *item = &pushing->push.items[pushing->op_items[commit->refused]];
    request->line = item->line;
    if (item->line > 0)
        request_problem(request, status,
                        "line %zu: the id \"%.*s\" is held with another body; nothing was stored",
                        item->line, BYTES_ARG(item->envelope.id));
    else
        request_problem(request, status,
                        "the id \"%.*s\" is held with another body; nothing was stored",
                        BYTES_ARG(item->envelope.id));
}

/* Runs on the store's thread. */
static void stored(struct store_commit *commit, enum status status) {
    struct push_call *pushing = commit->arg;
    if (status != STATUS_OK) {
        refuse(pushing, status);
        return;
    }
    struct json_out json = json_out(&pushing->request->out);
    json_open(&json, '{');
    put_ids(&json, pushing);
    put_duplicates(&json, pushing);
    json_close(&json, '}');
    request_answer(pushing->request, 200);
}

static void submit(struct push_call *pushing, uint32_t queue) {
    struct store *store = pushing->request->server->options.store;
    struct arena *arena = &pushing->request->arena;
    struct push *push = &pushing->push;
    struct store_commit *commit = &pushing->commit;
    commit->ops = arena_alloc(arena, push->count * sizeof *commit->ops);
    pushing->op_items = arena_alloc(arena, push->count * sizeof *pushing->op_items);
    for (size_t i = 0; i < push->count; i++) {
        if (push->items[i].repeat_of)
            continue;
        pushing->op_items[commit->count] = i;
        commit->ops[commit->count++] = (struct store_op){
            .kind = STORE_PUT,
            .queue = queue,
            .envelope = &push->items[i].envelope,
            .body = push->items[i].body,
            .check_id = push->items[i].chose_id,
            .decided_are_free = true,
        };
    }
    commit->done = stored;
    commit->arg = pushing;
    store->vtable->submit(store, commit);
}

/* A generator for this request, so that a long batch does not hold the server's lock. */
static struct rng own_rng(struct server *server) {
    struct rng rng;
    pthread_mutex_lock(&server->mutex);
    rng_seed(&rng, rng_next(&server->rng));
    pthread_mutex_unlock(&server->mutex);
    return rng;
}

static enum status parse(struct request *request, bool lines, struct push *out, struct err *err) {
    struct rng rng = own_rng(request->server);
    struct push_context context = {
        .queue = request->params[0],
        .now = request_now(request),
        .rng = &rng,
        .arena = &request->arena,
    };
    struct bytes text = buf_view(&request->body);
    return lines ? push_parse_lines(&context, text, out, err)
                 : push_parse_one(&context, text, out, err);
}

void call_push(struct request *request) {
    struct bytes type = request->content_type;
    bool lines = bytes_eq_nocase(type, BYTES("application/x-ndjson"));
    uint32_t queue;
    if (!lines && !request_means_json(request)) {
        request_problem(request, STATUS_MEDIA_TYPE,
                        "Content-Type \"%.*s\" is not understood here; send application/json, or "
                        "application/x-ndjson with one message a line",
                        BYTES_ARG(type));
        return;
    }
    if (!queue_index_find(request->server->queues, request->params[0], &queue)) {
        name_check_no_queue(request, request->params[0]);
        return;
    }
    struct push_call *pushing = arena_alloc(&request->arena, sizeof *pushing);
    pushing->request = request;
    struct err err;
    enum status status = parse(request, lines, &pushing->push, &err);
    if (status != STATUS_OK) {
        request->line = pushing->push.line;
        request_problem(request, status, "%s", err.text);
        return;
    }
    submit(pushing, queue);
}
