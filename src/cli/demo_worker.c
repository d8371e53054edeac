#include "cli/demo_worker.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/memory.h"
#include "base/thread/thread.h"
#include "cli/client.h"
#include "cli/view/field.h"
#include "cli/path.h"

enum {
    CHUNK = 16 * 1024,
    ANSWER_MAX = 4 << 20,
    TEXT_SIZE = 128,
    AGAIN_MS = 100, /* after the server did not answer */
};

/* Short, so that the end of the tour need not wait for it, and what a killed one held is soon back.
 */
#define ASK "{\"max\":4,\"wait_ms\":200,\"lease_ms\":10000}"

/* How the work on a message failed; without an error_type it did not. */
struct failure {
    int status; /* 0: none */
    const char *error_type;
    char text[TEXT_SIZE];
    const char *trace;
};

typedef struct failure work_fn(struct json message, int provider, struct arena *arena);

struct demo_queue {
    struct demo_worker *worker;
    const char *name;
    work_fn *work;
    struct client *client;
    pthread_t thread;
};

enum { QUEUES = 2 };

struct demo_worker {
    struct demo_queue queues[QUEUES];
    atomic_int provider;
    atomic_bool stopping;
};

/* ---- the work ---- */

__attribute__((format(printf, 4, 5))) static struct failure
failed(int status, const char *error_type, const char *trace, const char *format, ...) {
    struct failure failure = {.status = status, .error_type = error_type, .trace = trace};
    va_list args;
    va_start(args, format);
    vsnprintf(failure.text, sizeof failure.text, format, args);
    va_end(args);
    return failure;
}

/* A message may say in how many attempts it meets trouble. */
static bool trips(struct json message) {
    int64_t trip = 0, attempt = 0;
    json_i64(field_at(message, "body.trip"), &trip);
    json_i64(field_at(message, "attempt"), &attempt);
    return trip >= attempt;
}

static struct failure price(struct json message, int provider, struct arena *arena) {
    static const char trace[] = "Traceback (most recent call last):\n"
                                "  File \"price.py\", line 21, in <module>\n"
                                "    print(price(order))\n"
                                "  File \"price.py\", line 17, in price\n"
                                "    return order[\"amount\"] * TAX[order[\"pin\"]]\n"
                                "KeyError: 'BAD'\n";
    struct bytes pin = field_text(message, "body.pin", arena);
    (void)provider;
    if (trips(message))
        return failed(0, "TimeoutError", NULL, "downstream tax-svc 503");
    if (bytes_is(pin, "BAD"))
        return failed(0, "KeyError", trace, "'BAD'");
    return (struct failure){0};
}

static struct failure prompt(struct json message, int provider, struct arena *arena) {
    struct bytes model = field_text(message, "body.model", arena);
    struct bytes text = field_text(message, "body.prompt", arena);
    if (provider == DEMO_WORKER_DOWN)
        return failed(503, "api_error", NULL, "Service Unavailable");
    if (!bytes_is(model, provider == DEMO_WORKER_ROTATED ? "m2" : "m1"))
        return failed(404, "not_found_error", NULL, "model: %.*s",
                      BYTES_ARG(bytes_clip(model, 32)));
    if (trips(message))
        return failed(529, "overloaded_error", NULL, "Overloaded");
    if (bytes_has_nocase(text, BYTES("forbidden")))
        return failed(400, "invalid_request_error", NULL,
                      "Output blocked by content filtering policy");
    return (struct failure){0};
}

/* ---- asking and answering ---- */

static void put_fail(struct json_out *json, struct bytes lease, const struct failure *failure) {
    json_open(json, '{');
    json_key(json, "lease");
    json_put(json, lease);
    json_key(json, "error_type");
    json_put_str(json, failure->error_type);
    json_key(json, "error_message");
    json_put_str(json, failure->text);
    if (failure->trace) {
        json_key(json, "stack_trace");
        json_put_str(json, failure->trace);
    }
    if (failure->status) {
        json_key(json, "status");
        json_put_i64(json, failure->status);
    }
    json_close(json, '}');
}

/* `ack` gets the leases that went well, `fail` the others with what went wrong. */
static size_t work(const struct demo_queue *queue, struct json messages, struct arena *arena,
                   struct json_out *ack, struct json_out *fail) {
    size_t count = 0;
    for (struct json_walk w = json_walk(messages); json_step(&w); count++) {
        struct failure failure = queue->work(w.value, atomic_load(&queue->worker->provider), arena);
        struct bytes lease = field_text(w.value, "lease", arena);
        if (failure.error_type)
            put_fail(fail, lease, &failure);
        else
            json_put(ack, lease);
    }
    return count;
}

/* A lease whose answer is lost runs out, and its message comes again. */
static void answer(const struct demo_queue *queue, struct json said, struct arena *arena) {
    struct buf acks, fails, body, taken;
    struct err err;
    buf_init_heap(&acks, ANSWER_MAX);
    buf_init_heap(&fails, ANSWER_MAX);
    buf_init_heap(&body, 2 * ANSWER_MAX);
    buf_init_heap(&taken, ANSWER_MAX);
    struct json_out ack = json_out(&acks), fail = json_out(&fails);
    if (work(queue, field_at(said, "messages"), arena, &ack, &fail) > 0) {
        buf_printf(&body, "{\"ack\":[%s],", buf_cstr(&acks));
        buf_printf(&body, "\"fail\":[%s]}", buf_cstr(&fails));
        client_send(queue->client,
                    &(struct client_call){"/v1/leases", "application/json", buf_view(&body)},
                    &taken, &err);
    }
    buf_free(&acks);
    buf_free(&fails);
    buf_free(&body);
    buf_free(&taken);
}

static void turn(const struct demo_queue *queue, const char *path) {
    static const struct timespec again = {.tv_nsec = AGAIN_MS * 1000000L};
    struct client_call call = {path, "application/json", BYTES(ASK)};
    struct arena arena;
    struct buf leased;
    struct json said;
    struct err err;
    arena_init_heap(&arena, CHUNK);
    buf_init_heap(&leased, ANSWER_MAX);
    if (client_send(queue->client, &call, &leased, &err) == STATUS_OK &&
        json_parse(buf_view(&leased), &said, &err) == STATUS_OK)
        answer(queue, said, &arena);
    else
        nanosleep(&again, NULL);
    buf_free(&leased);
    arena_free(&arena);
}

static void *serve(void *arg) {
    const struct demo_queue *queue = arg;
    struct path path;
    path_init(&path, "/v1/queues");
    path_segment(&path, queue->name);
    path_segment(&path, "lease");
    while (!atomic_load(&queue->worker->stopping))
        turn(queue, path_text(&path));
    path_free(&path);
    return NULL;
}

/* ---- beginning and end ---- */

struct demo_worker *demo_worker_start(const char *url) {
    struct demo_worker *worker = memory_new(sizeof *worker);
    worker->queues[0] = (struct demo_queue){worker, DEMO_WORKER_ORDERS, price, client_new(url), 0};
    worker->queues[1] = (struct demo_queue){worker, DEMO_WORKER_AI, prompt, client_new(url), 0};
    for (size_t i = 0; i < QUEUES; i++)
        thread_start(&worker->queues[i].thread, "demo-worker", serve, &worker->queues[i]);
    return worker;
}

void demo_worker_set(struct demo_worker *worker, enum demo_worker_provider provider) {
    atomic_store(&worker->provider, (int)provider);
}

void demo_worker_stop(struct demo_worker *worker) {
    atomic_store(&worker->stopping, true);
    for (size_t i = 0; i < QUEUES; i++) {
        pthread_join(worker->queues[i].thread, NULL);
        client_free(worker->queues[i].client);
    }
    free(worker);
}
