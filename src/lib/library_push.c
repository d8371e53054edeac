/* Pushes messages: checks them as the HTTP API does, puts them into the store, and waits for the
 * commit. */
#include <semaphore.h>
#include <string.h>

#include "lib/library_worker.h"
#include "base/text/http_field.h"
#include "server/api/json/member.h"
#include "server/api/json/push.h"

enum { PUSH_ARENA = 16 << 10 };

struct library_pushing {
    struct store_commit commit;
    sem_t answered;
    enum status status;
};

static enum status check_text(const char *what, const char *text, size_t max, struct bytes *out,
                              struct err *err) {
    struct err why;
    if (!text)
        return STATUS_OK;
    *out = bytes_of(text);
    if (member_check_text(*out, 1, max, &why) == STATUS_OK)
        return STATUS_OK;
    return err_set(err, STATUS_INVALID, "its %s %s", what, why.text);
}

static enum status take_headers(const struct impound_push *given, struct arena *arena,
                                struct envelope *envelope, struct err *err) {
    if (given->header_count > ENVELOPE_HEADERS_MAX)
        return err_set(err, STATUS_INVALID, "it has more than %d headers", ENVELOPE_HEADERS_MAX);
    struct rule_header *headers =
        given->header_count ? arena_alloc(arena, given->header_count * sizeof *headers) : NULL;
    for (size_t i = 0; i < given->header_count; i++) {
        headers[i] = (struct rule_header){bytes_of(given->headers[i].name),
                                          bytes_of(given->headers[i].value)};
        if (!http_field_is_name(headers[i].name) || headers[i].name.len > PUSH_HEADER_MAX ||
            member_check_text(headers[i].value, 0, PUSH_HEADER_MAX, NULL) != STATUS_OK)
            return err_set(err, STATUS_INVALID, "its header %zu cannot be sent as an HTTP header",
                           i);
    }
    envelope->headers = headers;
    envelope->header_count = given->header_count;
    return STATUS_OK;
}

static enum status take_item(const struct push_context *context, const struct impound_push *given,
                             uint64_t max_body, struct push_item *item, struct err *err) {
    struct envelope *envelope = &item->envelope;
    item->body = (struct bytes){given->body ? given->body : "", given->body_len};
    item->chose_id = given->id != NULL;
    if (item->body.len > max_body)
        return err_set(err, STATUS_TOO_LARGE, "its body is larger than server.max_body, %llu bytes",
                       (unsigned long long)max_body);
    if (given->delay_ms < 0 || given->delay_ms > PUSH_DELAY_MAX_MS)
        return err_set(err, STATUS_INVALID, "its delay is not between 0 and 365 days");
    envelope->delay_ms = given->delay_ms;
    if (check_text("id", given->id, PUSH_ID_MAX, &envelope->id, err) != STATUS_OK ||
        check_text("key", given->key, PUSH_KEY_MAX, &envelope->key, err) != STATUS_OK ||
        check_text("content type", given->content_type, PUSH_CONTENT_TYPE_MAX,
                   &envelope->content_type, err) != STATUS_OK ||
        take_headers(given, context->arena, envelope, err) != STATUS_OK)
        return STATUS_INVALID;
    push_fill(context, item, true);
    return STATUS_OK;
}

/* The caller's items may have a smaller size, of an older header. */
static struct impound_push item_at(const struct impound_push *messages, size_t place) {
    struct impound_push item = IMPOUND_PUSH_INIT;
    size_t size = messages->size;
    const char *at = (const char *)messages + place * size;
    memcpy(&item, at, size < sizeof item ? size : sizeof item);
    return item;
}

static enum status take_all(const struct push_context *context, const struct config *config,
                            const struct impound_push *messages, size_t count, struct push *push,
                            struct err *err) {
    struct map ids = {0};
    struct err why;
    enum status status = STATUS_OK;
    push->items = arena_alloc(context->arena, count * sizeof *push->items);
    while (push->count < count && status == STATUS_OK) {
        struct impound_push given = item_at(messages, push->count);
        struct push_item *item = &push->items[push->count];
        item->line = push->count + 1;
        status = take_item(context, &given, config->max_body, item, &why);
        if (status == STATUS_OK)
            status = push_note_id(context, push, push->count, &ids, &why);
        push->count++;
    }
    map_free(&ids);
    if (status != STATUS_OK)
        err_set(err, status, "message %zu: %s", push->count, why.text);
    return status;
}

static void on_commit(struct store_commit *commit, enum status status) {
    struct library_pushing *pushing = commit->arg;
    pushing->status = status;
    sem_post(&pushing->answered);
}

static void submit_and_wait(struct impound_worker *worker, struct library_pushing *pushing) {
    pushing->commit.done = on_commit;
    pushing->commit.arg = pushing;
    pushing->commit.caller_waits = true;
    sem_init(&pushing->answered, 0, 0);
    worker->store->vtable->submit(worker->store, &pushing->commit);
    while (sem_wait(&pushing->answered) != 0) {
    }
    sem_destroy(&pushing->answered);
}

static void make_ops(struct store_commit *commit, const struct push *push, uint32_t queue,
                     struct arena *arena) {
    commit->ops = arena_alloc(arena, push->count * sizeof *commit->ops);
    for (size_t i = 0; i < push->count; i++) {
        const struct push_item *item = &push->items[i];
        if (!item->repeat_of)
            commit->ops[commit->count++] = (struct store_op){.kind = STORE_PUT,
                                                             .queue = queue,
                                                             .envelope = &item->envelope,
                                                             .body = item->body,
                                                             .check_id = item->chose_id,
                                                             .decided_are_free = true};
    }
}

static void give_receipts(const struct push *push, const struct store_commit *commit,
                          struct impound_receipt *receipts) {
    for (size_t i = 0, op = 0; i < push->count; i++) {
        const struct push_item *item = &push->items[i];
        receipts[i].duplicate = item->repeat_of || commit->ops[op].duplicate;
        op += !item->repeat_of;
        library_text(receipts[i].id, sizeof receipts[i].id, item->envelope.id);
    }
}

static struct rng own_rng(struct impound_worker *worker) {
    struct rng rng;
    pthread_mutex_lock(&worker->mutex);
    rng_seed(&rng, rng_next(&worker->rng));
    pthread_mutex_unlock(&worker->mutex);
    return rng;
}

static enum status push_all(struct impound_worker *worker, const struct config_queue *queue,
                            const struct impound_push *messages, size_t count,
                            struct impound_receipt *receipts, struct arena *arena,
                            struct err *err) {
    struct rng rng = own_rng(worker);
    struct push_context context = {queue->name, clock_now(&clock_system).wall, &rng, arena};
    struct push push = {0};
    struct library_pushing pushing = {0};
    enum status status = take_all(&context, worker->config, messages, count, &push, err);
    if (status != STATUS_OK)
        return status;
    make_ops(&pushing.commit, &push,
             worker->store->vtable->queue_number(worker->store, queue->name), arena);
    submit_and_wait(worker, &pushing);
    if (pushing.status == STATUS_OK && receipts)
        give_receipts(&push, &pushing.commit, receipts);
    if (pushing.status != STATUS_OK)
        err_set(err, pushing.status, "nothing was stored: %s", pushing.commit.err.text);
    return pushing.status;
}

enum impound_status impound_push_batch(struct impound_worker *worker, const char *queue,
                                       const struct impound_push *messages, size_t count,
                                       struct impound_receipt *receipts,
                                       struct impound_error *error) {
    struct arena arena;
    struct err err;
    const struct library_line *line = library_line(worker, queue);
    if (!line)
        return library_no_queue(queue, error);
    if (count == 0)
        return IMPOUND_OK;
    if (messages->size < sizeof messages->size || count > PUSH_LINES_MAX)
        return library_fail(error, STATUS_INVALID,
                            "messages: set their size, and give at most %d at a time",
                            PUSH_LINES_MAX);
    arena_init_heap(&arena, PUSH_ARENA);
    enum status status = push_all(worker, line->queue, messages, count, receipts, &arena, &err);
    arena_free(&arena);
    return status == STATUS_OK ? IMPOUND_OK : library_error(error, &err);
}

enum impound_status impound_push(struct impound_worker *worker, const char *queue,
                                 const struct impound_push *message,
                                 struct impound_receipt *receipt, struct impound_error *error) {
    return impound_push_batch(worker, queue, message, 1, receipt, error);
}
