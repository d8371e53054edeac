#include "server/api/name_check.h"

#include "base/text/suggest.h"
#include "server/api/json/view_json.h"

static bool is_among(struct bytes name, const struct bytes *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq(name, names[i]))
            return true;
    return false;
}

static void no_such(struct request *request, const char *noun, struct bytes name,
                    struct bytes nearest) {
    name = bytes_clip(name, REQUEST_QUOTE_MAX);
    if (nearest.len > 0)
        request_problem(request, STATUS_NOT_FOUND,
                        "there is no %s \"%.*s\"; did you mean \"%.*s\"?", noun, BYTES_ARG(name),
                        BYTES_ARG(nearest));
    else
        request_problem(request, STATUS_NOT_FOUND,
                        "there is no %s \"%.*s\"; GET /v1/%ss lists them", noun, BYTES_ARG(name),
                        noun);
}

void name_check_no_queue(struct request *request, struct bytes name) {
    no_such(request, "queue", name, queue_index_nearest(request->server->queues, name));
}

void name_check_no_dlq(struct request *request, struct bytes name) {
    struct bytes *names;
    struct suggest nearest = suggest_for(name);
    size_t count = view_json_dlq_names(&request->server->options, &request->arena, &names);
    for (size_t i = 0; i < count; i++)
        suggest_try(&nearest, names[i]);
    no_such(request, "dlq", name, nearest.best);
}

bool name_check_queue(struct request *request, struct bytes name) {
    struct store *store = request->server->options.store;
    struct bytes *stored;
    uint32_t number;
    if (name.len == 0 || queue_index_find(request->server->queues, name, &number))
        return true;
    size_t count = store->vtable->queue_names(store, &request->arena, &stored);
    if (is_among(name, stored, count))
        return true;
    struct suggest nearest = suggest_for(name);
    suggest_try(&nearest, queue_index_nearest(request->server->queues, name));
    for (size_t i = 0; i < count; i++)
        suggest_try(&nearest, stored[i]);
    no_such(request, "queue", name, nearest.best);
    return false;
}

bool name_check_dlq(struct request *request, struct bytes name) {
    struct bytes *names;
    if (name.len == 0)
        return true;
    size_t count = view_json_dlq_names(&request->server->options, &request->arena, &names);
    if (is_among(name, names, count))
        return true;
    name_check_no_dlq(request, name);
    return false;
}

bool name_check_filter(struct request *request, const struct query *query) {
    return name_check_queue(request, query->filter.queue) &&
           name_check_dlq(request, query->filter.dlq);
}
