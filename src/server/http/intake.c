#include "server/http/intake.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text/http_field.h"
#include "base/memory.h"
#include "base/percent.h"
#include "server/http/loop.h"
#include "server/http/origin_check.h"
#include "server/http/request.h"

size_t intake_unescape(void *server, struct MHD_Connection *connection, char *text) {
    (void)server;
    (void)connection;
    return strlen(text);
}

/* libmicrohttpd neither answers nor closes the connection if it has no memory for all parameters of
 * a query. */
void *intake_target(void *server, const char *target, struct MHD_Connection *connection) {
    (void)server;
    size_t args = 1;
    for (const char *c = strchr(target, '?'); c && (c = strchr(c, '&')); c++)
        args++;
    if (args > INTAKE_ARGS_MAX)
        loop_close(connection);
    return NULL;
}

static struct bytes header(struct request *request, const char *name) {
    return bytes_of(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name));
}

/* ---- checks of the head ---- */

/* The results of the checks of a head. */
struct head {
    size_t fields, args;
    size_t target; /* bytes of path and query */
    bool host, origin, length, encoding;
    uint64_t announced; /* Content-Length */
    enum status status; /* the first error in a header line */
    struct err err;
};

/* For header names that may occur once. Of two values, one parser uses the first and another the
 * second. */
static enum status only_once(const char *name, bool *seen, struct err *err) {
    if (*seen)
        return err_set(err, STATUS_INVALID, "%s is given twice", name);
    *seen = true;
    return STATUS_OK;
}

static enum status check_field(struct head *head, struct bytes name, struct bytes value) {
    struct err *err = &head->err;
    if (++head->fields > REQUEST_FIELDS_MAX)
        return err_set(err, STATUS_HEAD_TOO_LARGE,
                       "there are more than %d header lines, which is the limit",
                       REQUEST_FIELDS_MAX);
    if (!http_field_is_name(name) || !http_field_is_value(value))
        return err_set(err, STATUS_INVALID, "header line %zu is not \"Name: value\"", head->fields);
    if (bytes_eq_nocase(name, BYTES("Host")))
        return only_once("Host", &head->host, err);
    if (bytes_eq_nocase(name, BYTES("Origin")))
        return only_once("Origin", &head->origin, err);
    if (bytes_eq_nocase(name, BYTES("Content-Length")))
        return bytes_u64(value, &head->announced)
                   ? only_once("Content-Length", &head->length, err)
                   : err_set(err, STATUS_INVALID, "Content-Length is not a body's length");
    if (bytes_eq_nocase(name, BYTES("Transfer-Encoding")))
        return bytes_eq_nocase(value, BYTES("chunked"))
                   ? only_once("Transfer-Encoding", &head->encoding, err)
                   : err_set(err, STATUS_INVALID, "the only Transfer-Encoding taken is chunked");
    return STATUS_OK;
}

static enum MHD_Result take_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len) {
    (void)kind;
    struct head *head = arg;
    head->status = check_field(head, (struct bytes){name, name_len},
                               (struct bytes){value ? value : "", value_len});
    return head->status == STATUS_OK ? MHD_YES : MHD_NO;
}

static enum MHD_Result measure_arg(void *arg, enum MHD_ValueKind kind, const char *name,
                                   const char *value) {
    (void)kind;
    struct head *head = arg;
    head->target += 1 + strlen(name) + (value ? 1 + strlen(value) : 0);
    head->args++;
    return MHD_YES;
}

static enum status check_limits(struct request *request, struct head *head) {
    size_t size =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
            ->header_size;
    head->target = request->path.len;
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, measure_arg, head);
    if (head->target > REQUEST_TARGET_MAX)
        return err_set(&head->err, STATUS_URI_TOO_LONG,
                       "path and query are longer than %dKiB, which is the limit",
                       REQUEST_TARGET_MAX / 1024);
    if (head->args > REQUEST_ARGS_MAX)
        return err_set(&head->err, STATUS_INVALID,
                       "there are more than %d query parameters, which is the limit",
                       REQUEST_ARGS_MAX);
    if (size > REQUEST_HEAD_MAX)
        return err_set(&head->err, STATUS_HEAD_TOO_LARGE,
                       "request line and headers are larger than %dKiB, which is the limit",
                       REQUEST_HEAD_MAX / 1024);
    return STATUS_OK;
}

static enum status check_head(struct request *request, const char *version, struct head *head) {
    bool is_1_1 = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    if (!is_1_1 && strcmp(version, MHD_HTTP_VERSION_1_0) != 0)
        return err_set(&head->err, STATUS_INVALID,
                       "the request line is not \"METHOD /path HTTP/1.1\"");
    enum status status = check_limits(request, head);
    if (status != STATUS_OK)
        return status;
    MHD_get_connection_values_n(request->connection, MHD_HEADER_KIND, take_field, head);
    if (head->status != STATUS_OK)
        return head->status;
    if (head->length && head->encoding)
        return err_set(&head->err, STATUS_INVALID,
                       "Content-Length and Transfer-Encoding are given both; send one of them");
    if (is_1_1 && !head->host)
        return err_set(&head->err, STATUS_INVALID, "the request has no Host header");
    return STATUS_OK;
}

/* ---- parsing the head ---- */

static enum MHD_Result add_arg(void *arg, enum MHD_ValueKind kind, const char *name,
                               const char *value) {
    (void)kind;
    struct request *request = arg;
    assert(request->arg_count < REQUEST_ARGS_MAX); /* check_limits has counted them */
    struct request_arg *out = &request->args[request->arg_count++];
    struct bytes raw_name = arena_dup(&request->arena, bytes_of(name));
    struct bytes raw_value = arena_dup(&request->arena, bytes_of(value ? value : ""));
    if (percent_decode(raw_name, &request->arena, &out->name) &&
        percent_decode(raw_value, &request->arena, &out->value))
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

/* Bodies are not decoded. An import recognises zstd by its content. */
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

/* The one check of every request, made before its body is read. On return the request is either
 * answered, or it has a route and arguments, its head is unambiguous and within all limits, and
 * Host and Origin are allowed. */
static void examine(struct request *request, const char *version) {
    struct server *server = request->server;
    struct head head = {.status = STATUS_OK};
    struct err err;
    enum status status = check_head(request, version, &head);
    request->announced = head.announced;
    if (status != STATUS_OK) {
        request->malformed = true;
        request_problem(request, status, "%s", head.err.text);
        return;
    }
    if (turned_away(server))
        request_problem(request, STATUS_BUSY, "the server is stopping");
    else if (origin_check(bytes_of(server->host), header(request, MHD_HTTP_HEADER_HOST),
                          header(request, MHD_HTTP_HEADER_ORIGIN), &err) != STATUS_OK)
        request_problem(request, STATUS_FORBIDDEN, "%s", err.text);
    else
        find_route(request);
    if (!request->answered)
        refuse_encoded(request);
    if (!request->answered)
        MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, add_arg, request);
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

/* The client waits for permission to send the body, or the body is too large to discard. */
static bool is_better_not_sent(struct request *request) {
    return request->announced > INTAKE_DISCARD_MAX ||
           bytes_eq_nocase(header(request, MHD_HTTP_HEADER_EXPECT), BYTES("100-continue"));
}

static enum MHD_Result reply(struct request *request);

static enum MHD_Result begin(struct request *request, const char *version) {
    request->stays = strcmp(version, MHD_HTTP_VERSION_1_1) == 0;
    take_content_type(request);
    take_actor(request);
    take_accept(request);
    examine(request, version);
    request->body.max = request_body_max(request);
    bool large = request->announced > request_body_max(request);
    if (!request->answered && large)
        too_large(request);
    /* libmicrohttpd closes the connection after an answer that it is given before the body. A
     * client that is still sending may then get a reset before it has read the answer, so any other
     * body is read and discarded first. */
    if (request->malformed || (large && is_better_not_sent(request))) {
        request->stays = false;
        loop_await_nothing(request->connection);
        return reply(request);
    }
    loop_await(request->connection);
    return MHD_YES;
}

/* ---- the request's body ---- */

/* False: the connection must be closed, without an answer, because libmicrohttpd accepts none
 * between two parts of a body. */
static bool is_worth_reading(struct request *request, size_t size) {
    struct mono now = clock_now(request->server->options.clock).mono;
    request->discarded += request->answered ? size : 0;
    return now.ms <= mono_after(request->begun, INTAKE_RECEIVE_MAX_MS).ms &&
           request->discarded <= INTAKE_DISCARD_MAX;
}

static enum MHD_Result take_in(struct request *request, const char *data, size_t size) {
    if (!is_worth_reading(request, size))
        return MHD_NO;
    loop_await(request->connection);
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

static bool may_stay(struct request *request) {
    return request->stays && !turned_away(request->server) &&
           !bytes_has_nocase(header(request, MHD_HTTP_HEADER_CONNECTION), BYTES("close"));
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
    if (!may_stay(request))
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
    assert(request->answered);
    struct MHD_Response *response = make_response(request);
    if (!response)
        return MHD_NO;
    add_headers(request, response);
    enum MHD_Result queued = MHD_queue_response(request->connection, request->status, response);
    MHD_destroy_response(response);
    return queued;
}

/* Suspends the connection. False if the server is closing: then no connection may be suspended. */
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

/* True if the request is answered. False: the connection is suspended, and the request belongs to
 * the store, the engine or a worker and may not be touched here. */
static bool dispatch(struct request *request) {
    const struct route *route = request->route;
    request->started = true;
    if (request->answered)
        return true;
    assert(route); /* examine answers a request that has none */
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
    if (!request) {
        request = *place = request_new(arg, connection, method, url);
        return begin(request, version);
    }
    if (*size > 0) {
        enum MHD_Result go_on = take_in(request, data, *size);
        *size = 0;
        return go_on;
    }
    loop_await_nothing(connection);
    if (!request->started && !dispatch(request))
        return MHD_YES;
    return reply(request);
}

void intake_completed(void *server, struct MHD_Connection *connection, void **place,
                      enum MHD_RequestTerminationCode how) {
    (void)server;
    (void)how;
    request_free(*place);
    *place = NULL;
    loop_await_next(connection);
}
