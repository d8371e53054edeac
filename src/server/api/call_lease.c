/* Workers fetch messages and acknowledge or fail them. The engine answers: a request for messages
 * when there are some or its wait is over, an acknowledgement when its change is durable. */
#include "server/api/call.h"
#include "server/api/name_check.h"

#include "core/pointer.h"
#include "server/api/json/lease_json.h"
#include "server/api/json/view_json.h"
#include "server/http/problem_json.h"
#include "server/http/request.h"

/* ---- fetching ---- */

static void put_message(struct json_out *json, const struct engine_leased *leased) {
    const struct envelope *envelope = &leased->held->envelope;
    json_open(json, '{');
    json_key(json, "id");
    json_put(json, envelope->id);
    json_key(json, "lease");
    json_put_str(json, leased->lease);
    view_json_number(json, "attempt", leased->attempt);
    view_json_number(json, "replay", envelope->replays);
    json_key(json, "key");
    envelope_put_any(json, envelope->key);
    envelope_put_headers(json, leased->headers, leased->header_count);
    json_key(json, "content_type");
    json_put(json, envelope->content_type);
    envelope_put_body(json, envelope->content_type, leased->held->body);
    if (pointer_is_tombstone(envelope->source, leased->held->body)) {
        json_key(json, "tombstone");
        json_put_bool(json, true);
    }
    json_close(json, '}');
}

/* Runs on the engine's thread. */
static void fetched(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    if (status == STATUS_NOT_FOUND) {
        name_check_no_queue(request, asked->queue);
        return;
    }
    if (status != STATUS_OK) {
        request_problem(request, status, "nothing was leased: %s", asked->err.text);
        return;
    }
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "messages");
    json_open(&json, '[');
    for (size_t i = 0; i < asked->lease->count; i++)
        put_message(&json, &asked->lease->messages[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    request_answer(request, 200);
}

static bool client_gone(const struct engine_request *asked) {
    return request_gone(asked->arg);
}

void call_lease(struct request *request) {
    struct json object;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    struct engine_request *asked = arena_alloc(&request->arena, sizeof *asked);
    struct engine_lease *lease = arena_alloc(&request->arena, sizeof *lease);
    if (lease_json_parse_ask(object, &request->arena, lease, &err) != STATUS_OK) {
        request_problem(request, STATUS_INVALID, "%s", err.text);
        return;
    }
    lease->messages = arena_alloc(&request->arena, lease->max * sizeof *lease->messages);
    lease->gone = client_gone;
    asked->kind = ENGINE_LEASE;
    asked->queue = request->params[0];
    asked->done = fetched;
    asked->arg = request;
    asked->lease = lease;
    engine_ask(request->server->options.engine, asked);
}

/* ---- answering ---- */

static void put_release(struct json_out *json, const struct request *request,
                        const struct engine_release *release) {
    json_open(json, '{');
    json_key(json, "lease");
    json_put(json, release->lease);
    if (release->status == STATUS_OK) {
        json_key(json, "ok");
        json_put_bool(json, true);
    } else {
        json_key(json, "problem");
        problem_json_put(json->buf, release->status, bytes_of(release->err.text), request->path, 0);
    }
    json_close(json, '}');
}

static void released(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    struct json_out json = json_out(&request->out);
    (void)status; /* each answer has its own status */
    json_open(&json, '{');
    json_key(&json, "results");
    json_open(&json, '[');
    for (size_t i = 0; i < asked->release_count; i++)
        put_release(&json, request, &asked->release[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    request_answer(request, 200);
}

static void released_one(struct engine_request *asked, enum status status) {
    struct request *request = asked->arg;
    const struct engine_release *release = asked->release;
    (void)status;
    if (release->status != STATUS_OK) {
        request_problem(request, release->status, "%s", release->err.text);
        return;
    }
    struct json_out json = json_out(&request->out);
    put_release(&json, request, release);
    request_answer(request, 200);
}

static void ask_release(struct request *request, struct engine_release *release, size_t count,
                        void (*done)(struct engine_request *asked, enum status status)) {
    struct engine_request *asked = arena_alloc(&request->arena, sizeof *asked);
    asked->kind = ENGINE_RELEASE;
    asked->done = done;
    asked->arg = request;
    asked->release = release;
    asked->release_count = count;
    engine_ask(request->server->options.engine, asked);
}

static void call_one(struct request *request, enum engine_release_kind kind) {
    struct json object;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    struct engine_release *release = arena_alloc(&request->arena, sizeof *release);
    if (lease_json_parse_one(object, kind, request->params[0], request_now(request),
                             &request->arena, release, &err) != STATUS_OK)
        request_problem(request, STATUS_INVALID, "%s", err.text);
    else
        ask_release(request, release, 1, released_one);
}

void call_lease_ack(struct request *request) {
    call_one(request, RELEASE_ACK);
}

void call_lease_fail(struct request *request) {
    call_one(request, RELEASE_FAIL);
}

void call_lease_extend(struct request *request) {
    call_one(request, RELEASE_EXTEND);
}

void call_lease_bulk(struct request *request) {
    struct json object;
    struct err err;
    struct engine_release *releases;
    size_t count;
    if (!request_json(request, false, &object))
        return;
    if (lease_json_parse_bulk(object, request_now(request), &request->arena, &releases, &count,
                              &err) != STATUS_OK)
        request_problem(request, STATUS_INVALID, "%s", err.text);
    else
        ask_release(request, releases, count, released);
}
