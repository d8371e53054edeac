/* /v1/letters and /v1/messages: lists by filter, one by id, and the explanation of its state. */
#include "server/api/call.h"

#include "server/api/json/view_json.h"
#include "server/api/name_check.h"
#include "server/http/request.h"
#include "triage/query/explain.h"
#include "triage/query/query.h"

/* A message that has not failed yet has no limit of attempts in its envelope; the present policy
 * has it. */
static void complete(void *arg, struct envelope *envelope) {
    const struct live_config *config = arg;
    const struct policy *policy = config->policy(config->arg, envelope->queue);
    envelope->max_attempts = policy_attempts(policy, envelope->max_attempts);
    config->release(config->arg);
}

/* ---- lists ---- */

static enum status read_filter(struct request *request, struct query *query, struct bytes dlq,
                               struct err *err) {
    struct wall now = request_now(request);
    for (size_t i = 0; i < request->arg_count; i++) {
        const struct request_arg *arg = &request->args[i];
        if (query_set(query, arg->name, arg->value, now, &request->arena, err) != STATUS_OK)
            return err->status;
    }
    if (dlq.len > 0 && query_set(query, BYTES("dlq"), dlq, now, &request->arena, err) != STATUS_OK)
        return err->status;
    query_finish(query);
    return STATUS_OK;
}

static void list(struct request *request, enum query_scope scope, struct bytes dlq) {
    struct server_options *options = &request->server->options;
    struct query query;
    struct err err;
    query_init(&query, scope);
    query.complete = complete;
    query.arg = &options->config;
    query.gone = request_gone;
    query.asker = request;
    query.clock = options->clock;
    enum status status = read_filter(request, &query, dlq, &err);
    if (status == STATUS_OK && !name_check_filter(request, &query))
        return;
    if (status == STATUS_OK)
        status = query_run(options->store, options->jq, &query, &request->out, &err);
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err.text);
}

void call_messages_list(struct request *request) {
    list(request, QUERY_MESSAGES, BYTES_NONE);
}

void call_letters_list(struct request *request) {
    list(request, QUERY_LETTERS, BYTES_NONE);
}

void call_letters_of_dlq(struct request *request) {
    struct view_json_dlq dlq;
    if (view_json_dlq_find(&request->server->options, request->params[0], request_now(request),
                           &request->arena, &dlq))
        list(request, QUERY_LETTERS, request->params[0]);
    else
        name_check_no_dlq(request, request->params[0]);
}

/* ---- one message ---- */

/* The message of the path's id, to be freed; NULL: the request has been answered. */
static struct message *find(struct request *request, bool letters) {
    struct store *store = request->server->options.store;
    struct bytes id = request->params[0];
    struct message *held = NULL;
    struct err err;
    if (!name_check_queue(request, request_arg(request, "queue")))
        return NULL;
    enum status status =
        letters_get(store->letters, request_arg(request, "queue"), id, &held, &err);
    const char *noun = letters ? "letter" : "message";
    if (status == STATUS_NOT_FOUND) {
        request_problem(request, status,
                        "impound holds no %s \"%.*s\"; what succeeded or was spilled is not kept",
                        noun, BYTES_ARG(bytes_clip(id, REQUEST_QUOTE_MAX)));
    } else if (status != STATUS_OK) {
        request_problem(request, status, "%s", err.text);
    } else if (letters && held->envelope.letter_id.len == 0) {
        request_problem(request, STATUS_NOT_FOUND,
                        "\"%.*s\" is a message that is not dead; see /v1/messages/{id}",
                        BYTES_ARG(bytes_clip(id, REQUEST_QUOTE_MAX)));
        message_free(held);
        return NULL;
    }
    return status == STATUS_OK ? held : NULL;
}

/* Appends the body that first died to the encoded letter: an edited letter has both. */
static void put_original(struct request *request, const struct envelope *envelope) {
    struct store *store = request->server->options.store;
    struct bytes body;
    struct json parsed;
    if (!envelope->edited ||
        letters_note(store->letters, 0, SPACE_ORIGINAL, envelope->letter_id, request_now(request),
                     &request->arena, &body, NULL) != STATUS_OK ||
        json_parse(body, &parsed, NULL) != STATUS_OK)
        return;
    request->out.len--; /* removes the closing bracket */
    struct json_out json = {&request->out, true};
    json_key(&json, "original");
    json_open(&json, '{');
    json_key(&json, "body");
    json_put_raw(&json, parsed.text);
    json_close(&json, '}');
    json_close(&json, '}');
}

static void show(struct request *request, bool letters) {
    struct message *held = find(request, letters);
    if (!held)
        return;
    complete(&request->server->options.config, &held->envelope);
    envelope_encode(&held->envelope, ENVELOPE_WITH_BODY, held->body, &request->out);
    put_original(request, &held->envelope);
    message_free(held);
    request_answer(request, 200);
}

void call_messages_show(struct request *request) {
    show(request, false);
}

void call_letters_show(struct request *request) {
    show(request, true);
}

/* False: the queue is no longer configured. */
static bool look_at_queue(struct request *request, struct bytes name,
                          struct engine_queue_view *view, struct explain_queue *out) {
    if (!engine_view(request->server->options.engine, name, view))
        return false;
    *out = (struct explain_queue){
        .stopped = view->state == QUEUE_RUNNING ? NULL : queue_state_text(view->state),
        .why = bytes_of(view->why),
        .breaker = view->breaker,
        .breaker_until = view->breaker_until,
        .dlq_full = view->receives_nothing,
    };
    return true;
}

void call_letters_explain(struct request *request) {
    struct engine_queue_view view;
    struct explain_queue queue;
    const struct live_config *config = &request->server->options.config;
    /* Messages that wait for a retry can be explained as well, not only letters. */
    struct message *held = find(request, false);
    if (!held)
        return;
    const struct policy *policy = config->policy(config->arg, held->envelope.queue);
    bool known = look_at_queue(request, held->envelope.queue, &view, &queue);
    explain_json(&held->envelope, policy, known ? &queue : NULL, &request->out);
    config->release(config->arg);
    message_free(held);
    request_answer(request, 200);
}
