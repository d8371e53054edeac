#include "server/intake.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/instant.h"
#include "server/door.h"
#include "server/gate.h"
#include "server/loop.h"
#include "server/request.h"
#include "server/url.h"

size_t intake_unescape(void *server, struct MHD_Connection *connection, char *text) {
    (void)server;
    (void)connection;
    return strlen(text);
}

static struct bytes header(struct request *request, const char *name) {
    return bytes_of(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name));
}

/* ---- the request's head ---- */

static enum MHD_Result add_arg(void *arg, enum MHD_ValueKind kind, const char *name,
                               const char *value) {
    (void)kind;
    struct request *request = arg;
    if (request->arg_count == HEAD_ARGS_MAX) {
        request_problem(request, STATUS_INVALID,
                        "there are more than %d query parameters, which is the limit",
                        HEAD_ARGS_MAX);
        return MHD_NO;
    }
    struct request_arg *out = &request->args[request->arg_count++];
    struct bytes raw_name = arena_dup(&request->arena, bytes_of(name));
    struct bytes raw_value = arena_dup(&request->arena, bytes_of(value ? value : ""));
    if (url_decode(raw_name, &request->arena, &out->name) &&
        url_decode(raw_value, &request->arena, &out->value))
        return MHD_YES;
    request_problem(request, STATUS_INVALID, "the percent-encoding of \"%.*s\" is broken",
                    BYTES_ARG(raw_name));
    return MHD_NO;
}

static void find_route(struct request *request) {
    enum status status = route_find(request->method, request->path, &request->arena,
                                    &request->route, request->params, request->allow);
    if (status == STATUS_METHOD && bytes_is(request->method, "OPTIONS"))
        request_answer_as(request, MHD_HTTP_NO_CONTENT, NULL);
    else if (status == STATUS_METHOD)
        request_problem(request, status, "%.*s is not for this path; it takes %s",
                        BYTES_ARG(request->method), request->allow);
    else if (status == STATUS_INVALID)
        request_problem(request, status, "the percent-encoding of the path is broken");
    else if (status != STATUS_OK)
        request_problem(request, status, "there is no such path; see /openapi.json");
}

static void take_content_type(struct request *request) {
    struct bytes value = header(request, MHD_HTTP_HEADER_CONTENT_TYPE);
    struct bytes type = bytes_trim(bytes_cut(value, 0, bytes_find(value, BYTES(";"))));
    request->content_type = type.len ? arena_dup(&request->arena, type) : BYTES_NONE;
}

/* Bodies are taken as they come; what is imported tells by itself that it is zstd. */
static void refuse_encoded(struct request *request) {
    struct bytes coding = bytes_trim(header(request, MHD_HTTP_HEADER_CONTENT_ENCODING));
    if (coding.len > 0 && !bytes_eq_nocase(coding, BYTES("identity")) &&
        request->route->how != ROUTE_BULK)
        request_problem(request, STATUS_MEDIA_TYPE,
                        "Content-Encoding \"%.*s\" is not understood; send the body as it is",
                        BYTES_ARG(coding));
}

static void take_actor(struct request *request) {
    struct bytes name = bytes_trim(header(request, REQUEST_ACTOR_HEADER));
    request->actor = name.len ? arena_dup(&request->arena, bytes_clip(name, REQUEST_ACTOR_MAX))
                              : BYTES("anonymous");
}

static bool turned_away(struct server *server) {
    pthread_mutex_lock(&server->mutex);
    bool stopping = server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return stopping;
}

/* Answers at once what can be told from the head alone. */
static void examine(struct request *request) {
    struct server *server = request->server;
    struct err err;
    if (turned_away(server))
        request_problem(request, STATUS_BUSY, "the server is stopping");
    else if (gate_check(bytes_of(server->host), header(request, MHD_HTTP_HEADER_HOST),
                        header(request, MHD_HTTP_HEADER_ORIGIN), &err) != STATUS_OK)
        request_problem(request, STATUS_FORBIDDEN, "%s", err.text);
    else
        find_route(request);
    if (!request->answered)
        refuse_encoded(request);
}

static void take_accept(struct request *request) {
    struct bytes accept = header(request, MHD_HTTP_HEADER_ACCEPT);
    request->takes_zstd = bytes_has_nocase(accept, BYTES("application/zstd"));
}

static void too_large(struct request *request) {
    char memory[32];
    struct buf limit;
    buf_init_fixed(&limit, memory, sizeof memory);
    size_put(&limit, request_body_max(request));
    request_problem(
        request, STATUS_TOO_LARGE,
        "the body is larger than server.max_body, %.*s; send less at a time or raise it",
        BYTES_ARG(buf_view(&limit)));
}

static enum MHD_Result reply(struct request *request);

static enum MHD_Result begin(struct request *request) {
    take_content_type(request);
    take_actor(request);
    take_accept(request);
    examine(request);
    request->body.max = request_body_max(request);
    if (!request->answered)
        MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_arg, request);
    struct bytes length = header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
    bool large = length.ptr && (!bytes_u64(length, &request->announced) ||
                                request->announced > request_body_max(request));
    if (!large) {
        if (request->announced > 0 || header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING).ptr)
            kept_expect(loop_visit(request->connection), request->begun);
        return MHD_YES;
    }
    /* Not worth reading: the answer goes out before the body has come, and the connection is closed
     * gently behind it (farewell.h). */
    if (!request->answered)
        too_large(request);
    farewell_later(request->server->farewell, request->connection);
    return reply(request);
}

/* ---- the request's body ---- */

/* libmicrohttpd takes no answer in the midst of a body, so this one goes past it. */
static void cut_off(struct request *request) {
    struct visit *visit = loop_visit(request->connection);
    struct bytes problem = buf_view(&request->out);
    kept_give_up(visit, door_refuse(visit->fd, request->status, problem) == DOOR_SHUT);
}

static void too_slow(struct request *request, int64_t ms) {
    char memory[32];
    struct buf limit;
    buf_init_fixed(&limit, memory, sizeof memory);
    duration_put(&limit, ms);
    request_problem(request, STATUS_TIMEOUT, "the body did not arrive within %s", buf_cstr(&limit));
}

void intake_late(struct visit *visit) {
    struct request *request = visit->request;
    if (!request->answered)
        too_slow(request, request->server->options.idle_ms);
    cut_off(request);
}

/* Whether more is taken of it. */
static bool is_in_time(struct request *request, struct mono now, size_t size) {
    bool late = now.ms > mono_after(request->begun, INTAKE_RECEIVE_MAX_MS).ms;
    if (late && !request->answered)
        too_slow(request, INTAKE_RECEIVE_MAX_MS);
    request->swallowed += request->answered ? size : 0;
    return !late && request->swallowed <= INTAKE_SWALLOW_MAX;
}

static enum MHD_Result take_in(struct request *request, const char *data, size_t size) {
    struct server *server = request->server;
    struct visit *visit = loop_visit(request->connection);
    struct mono now = clock_now(server->options.clock).mono;
    if (!is_in_time(request, now, size)) {
        cut_off(request);
        return MHD_NO;
    }
    kept_expect(visit, now);
    if (request->answered)
        return MHD_YES;
    size_t before = request->body.len;
    buf_put(&request->body, data, size);
    bool room = request_count_body(request, request->body.len - before);
    if (request->body.overflow && !request->body.no_memory)
        too_large(request);
    else if (request->body.overflow || !memory_has_reserve())
        request_problem(request, STATUS_BUSY, "there is no memory for the body; try again later");
    else if (!room)
        request_problem(request, STATUS_BUSY,
                        "too many large requests are under way (server.body_memory); try again "
                        "later");
    if (request->answered)
        request_drop_body(request);
    return MHD_YES;
}

/* ---- the answer ---- */

/* A chunked body does not tell how many bytes it took, and so not where the next request begins. */
static bool may_stay(struct request *request) {
    return !turned_away(request->server) &&
           !bytes_has_nocase(header(request, MHD_HTTP_HEADER_CONNECTION), BYTES("close")) &&
           !header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING).ptr;
}

static void add_count(struct MHD_Response *response, const char *name, uint64_t count) {
    char text[24];
    if (count == 0)
        return;
    snprintf(text, sizeof text, "%llu", (unsigned long long)count);
    MHD_add_response_header(response, name, text);
}

static void add_headers(struct request *request, struct MHD_Response *response) {
    if (request->out_type)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, request->out_type);
    if (!request->out_asset)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    if (request->allow[0])
        MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, request->allow);
    add_count(response, "Impound-Skipped", request->skipped);
    add_count(response, "Impound-Damaged", request->damaged);
    if (request->status == (unsigned)status_http(STATUS_BUSY))
        MHD_add_response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, INTAKE_RETRY_AFTER_S);
    if (!request->stays)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
}

/* libmicrohttpd closes the file with the response. */
static struct MHD_Response *file_response(struct request *request) {
    struct stat stat;
    int fd = request->out_file;
    if (fstat(fd, &stat) != 0)
        return NULL;
    request->out_file = -1;
    return MHD_create_response_from_fd64((uint64_t)stat.st_size, fd);
}

static struct MHD_Response *make_response(struct request *request) {
    if (request->listener)
        return events_response(request->listener, request->connection);
    if (request->out_file >= 0)
        return file_response(request);
    if (request->out_asset)
        return asset_response(request->out_asset, request->wish);
    size_t len;
    char *text = buf_take(&request->out, &len);
    return MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result reply(struct request *request) {
    struct MHD_Response *response = make_response(request);
    if (!response)
        return MHD_NO;
    request->stays = request->stays && may_stay(request);
    if (request->stays)
        kept_mark(loop_visit(request->connection), request->announced);
    add_headers(request, response);
    enum MHD_Result queued = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* Suspends the connection, unless the server is closing, when nothing may be suspended any more. */
static bool suspend(struct request *request) {
    struct server *server = request->server;
    pthread_mutex_lock(&server->mutex);
    bool may = !server->closing;
    if (may)
        server->suspended++;
    pthread_mutex_unlock(&server->mutex);
    if (may) {
        request->suspended = true;
        MHD_suspend_connection(request->connection);
    }
    return may;
}

/* True when the answer is there; false when it will come, and the connection is suspended: then the
 * request is no longer ours to look at. */
static bool dispatch(struct request *request) {
    const struct route *route = request->route;
    request->started = true;
    if (request->answered)
        return true;
    request->work = route->call;
    if (route->how == ROUTE_AT_ONCE) {
        route->call(request);
        return true;
    }
    if (!suspend(request)) {
        request_problem(request, STATUS_BUSY, "the server is stopping");
        return true;
    }
    if (route->how == ROUTE_AWAITS)
        route->call(request);
    else if (!workers_give(request->server->workers, request))
        request_problem(request, STATUS_BUSY,
                        "%zu requests of this kind wait already; try again later",
                        workers_waiting_max(request));
    return false;
}

enum MHD_Result intake_access(void *arg, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *size, void **place) {
    struct request *request = *place;
    struct visit *visit = loop_visit(connection);
    if (visit->over)
        return MHD_NO;
    if (!request) {
        request = *place = request_new(arg, connection, method, url);
        request->stays = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
        visit->request = request;
        return begin(request);
    }
    if (*size > 0) {
        enum MHD_Result go_on = take_in(request, data, *size);
        *size = 0;
        return go_on;
    }
    kept_expect_no_more(visit);
    if (!request->started && !dispatch(request))
        return MHD_YES;
    return reply(request);
}

void intake_completed(void *server, struct MHD_Connection *connection, void **place,
                      enum MHD_RequestTerminationCode how) {
    (void)server;
    struct request *request = *place;
    kept_expect_no_more(loop_visit(connection));
    if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK && request && request->stays)
        kept_wait(loop_visit(connection));
    request_free(request);
    *place = NULL;
}
