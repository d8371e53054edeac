#include "server/http/request.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/steady.h"
#include "server/http/loop.h"
#include "server/http/problem_json.h"

enum { REQUEST_ARENA_CHUNK = 2048, PROBLEM_DETAIL_MAX = 1024 };

struct request *request_new(struct server *server, struct MHD_Connection *connection,
                            const char *method, const char *path) {
    struct request *request = memory_new(sizeof *request);
    request->server = server;
    request->connection = connection;
    arena_init_heap(&request->arena, REQUEST_ARENA_CHUNK);
    request->method = arena_dup(&request->arena, bytes_of(method));
    request->path = arena_dup(&request->arena, bytes_of(path));
    buf_init_heap(&request->body, server->options.max_body);
    buf_init_heap(&request->out, REQUEST_ANSWER_MAX);
    request->out_file = -1;
    list_init(&request->link);
    request->begun = clock_now(server->options.clock).mono;
    pthread_mutex_lock(&server->mutex);
    server->active++;
    pthread_mutex_unlock(&server->mutex);
    return request;
}

/* A request is always accepted if it is the only one with a body. */
bool request_count_body(struct request *request, size_t bytes) {
    struct body_memory *memory = request->server->options.memory;
    body_memory_add(memory, BODY_MEMORY_REQUESTS, bytes);
    return body_memory_has_room(memory, BODY_MEMORY_REQUESTS) ||
           body_memory_used(memory, BODY_MEMORY_REQUESTS) <= request->body.len;
}

void request_drop_body(struct request *request) {
    body_memory_sub(request->server->options.memory, BODY_MEMORY_REQUESTS, request->body.len);
    buf_free(&request->body);
}

void request_free(struct request *request) {
    if (!request)
        return;
    struct server *server = request->server;
    assert(!request->suspended || request->answered); /* otherwise another thread still uses it */
    events_leave(server->events, request->listener);
    request_drop_body(request);
    body_memory_sub(server->options.memory, BODY_MEMORY_MESSAGES, request->out_counted);
    buf_free(&request->out);
    if (request->out_file >= 0)
        close(request->out_file);
    arena_free(&request->arena);
    free(request);
    pthread_mutex_lock(&server->mutex);
    assert(server->active > 0);
    server->active--;
    pthread_cond_broadcast(&server->fewer);
    pthread_mutex_unlock(&server->mutex);
}

struct bytes request_arg(const struct request *request, const char *name) {
    for (size_t i = 0; i < request->arg_count; i++) {
        if (bytes_is(request->args[i].name, name))
            return request->args[i].value;
    }
    return BYTES_NONE;
}

bool request_limit(struct request *request, size_t usual, size_t most, size_t *out) {
    struct bytes text = request_arg(request, "limit");
    uint64_t number = usual;
    if (text.ptr && (!bytes_u64(text, &number) || number == 0 || number > most)) {
        request_problem(request, STATUS_INVALID, "limit: \"%.*s\" is not a number from 1 to %zu",
                        BYTES_ARG(bytes_clip(text, REQUEST_QUOTE_MAX)), most);
        return false;
    }
    *out = (size_t)number;
    return true;
}

/* While the connection is suspended, libmicrohttpd does not read from the socket, so an end of file
 * can still be detected. */
bool request_gone(const void *arg) {
    const struct request *request = arg;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    char byte;
    if (!info)
        return false;
    ssize_t got = recv(info->connect_fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

struct wall request_now(const struct request *request) {
    return clock_now(request->server->options.clock).wall;
}

struct wall request_steady_now(const struct request *request) {
    const struct server *server = request->server;
    return steady_wall(server->began, clock_now(server->options.clock));
}

/* The form type is the default of curl -d and of several HTTP libraries. A form on another site
 * cannot use it: the browser sends its Origin, which origin_check refuses. */
bool request_means_json(const struct request *request) {
    static const char *const types[] = {"", "application/json",
                                        "application/x-www-form-urlencoded"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (bytes_eq_nocase(request->content_type, bytes_of(types[i])))
            return true;
    return false;
}

bool request_json(struct request *request, bool optional, struct json *out) {
    if (!request_means_json(request)) {
        request_problem(request, STATUS_MEDIA_TYPE,
                        "Content-Type \"%.*s\" is not understood here; send application/json",
                        BYTES_ARG(request->content_type));
        return false;
    }
    struct bytes text = buf_view(&request->body);
    if (optional && bytes_trim(text).len == 0)
        text = BYTES("{}");
    struct err err;
    if (json_parse(text, out, &err) != STATUS_OK) {
        request_problem(request, STATUS_INVALID, "the body: %s", err.text);
        return false;
    }
    if (out->type != JSON_OBJECT) {
        request_problem(request, STATUS_INVALID, "the body must be a JSON object, not %s",
                        json_type_name(out->type));
        return false;
    }
    return true;
}

/* Resumes the connection. The request may be freed before this returns. */
static void resume(struct request *request) {
    struct server *server = request->server;
    loop_resume(request->connection);
    pthread_mutex_lock(&server->mutex);
    assert(server->suspended > 0);
    server->suspended--;
    pthread_cond_broadcast(&server->fewer);
    pthread_mutex_unlock(&server->mutex);
}

/* Large answers count as memory for bodies until the client has read them. */
static void count_answer(struct request *request) {
    size_t bytes = request->out.len < BODY_MEMORY_SMALL ? 0 : request->out.len;
    request->out_counted = bytes;
    body_memory_add(request->server->options.memory, BODY_MEMORY_MESSAGES, bytes);
}

void request_answer_as(struct request *request, unsigned status, const char *type) {
    assert(!request->answered);
    if (request->out.overflow && request->out.no_memory) {
        buf_free(&request->out);
        request_problem(request, STATUS_BUSY, "there is no memory for the answer; try again later");
        return;
    }
    if (request->out.overflow) {
        buf_clear(&request->out);
        request_problem(
            request, STATUS_INTERNAL,
            "the answer is larger than %d bytes; ask for fewer with limit=", REQUEST_ANSWER_MAX);
        return;
    }
    count_answer(request);
    request->status = status;
    request->out_type = type;
    request->answered = true;
    if (request->suspended)
        resume(request);
}

void request_answer_file(struct request *request, int fd_take, const char *type) {
    request->out_file = fd_take;
    request_answer_as(request, 200, type);
}

static struct bytes header(const struct request *request, const char *name) {
    return bytes_of(MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name));
}

void request_answer_asset(struct request *request, const struct asset *asset) {
    request->out_asset = asset;
    request->wish = asset_wish(asset, header(request, MHD_HTTP_HEADER_ACCEPT_ENCODING),
                               header(request, MHD_HTTP_HEADER_IF_NONE_MATCH));
    request_answer_as(request, asset_status(request->wish), asset->type);
}

uint64_t request_body_max(const struct request *request) {
    uint64_t most = request->server->options.max_body;
    bool bulk = request->route && request->route->how == ROUTE_BULK;
    return bulk && most < REQUEST_BULK_MAX ? REQUEST_BULK_MAX : most;
}

void request_answer(struct request *request, unsigned status) {
    request_answer_as(request, status, "application/json");
}

void request_problem(struct request *request, enum status status, const char *format, ...) {
    char detail[PROBLEM_DETAIL_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(detail, sizeof detail, format, args);
    va_end(args);
    buf_clear(&request->out);
    problem_json_put(&request->out, status, bytes_of(detail), request->path, request->line);
    request_answer_as(request, (unsigned)status_http(status), PROBLEM_JSON_TYPE);
}
