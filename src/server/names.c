#include "server/names.h"

#include "base/suggest.h"
#include "server/view.h"

static bool is_among(struct bytes name, const struct bytes *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq(name, names[i]))
            return true;
    return false;
}

bool names_queue(struct request *request, struct bytes name) {
    struct store *store = request->server->options.store;
    struct bytes *stored;
    uint32_t number;
    if (name.len == 0 || known_find(request->server->known, name, &number))
        return true;
    size_t count = store->vtable->queue_names(store, &request->arena, &stored);
    if (is_among(name, stored, count))
        return true;
    struct suggest nearest = suggest_for(name);
    suggest_try(&nearest, known_nearest(request->server->known, name));
    for (size_t i = 0; i < count; i++)
        suggest_try(&nearest, stored[i]);
    request_no_such(request, "queue", name, nearest.best);
    return false;
}

bool names_dlq(struct request *request, struct bytes name) {
    struct bytes *names;
    if (name.len == 0)
        return true;
    size_t count = view_dlq_names(&request->server->options, &request->arena, &names);
    if (is_among(name, names, count))
        return true;
    request_no_dlq(request, name);
    return false;
}

bool names_filter(struct request *request, const struct query *query) {
    return names_queue(request, query->filter.queue) && names_dlq(request, query->filter.dlq);
}
