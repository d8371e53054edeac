#include "broker/redis/redis_connection.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "broker/redis/redis_tls.h"

enum {
    READ_AT_ONCE = 64 << 10,
    PIPELINE_MAX = 1 << 30, /* bytes that wait to be sent */
    WORDS_MAX = 1024,       /* of one command */
};

struct redis_connection {
    const struct redis_url *url;
    struct clock *clock;
    int fd;
    struct redis_tls *tls; /* NULL: plain */
    redisReader *reader;
    struct buf pipeline;
    bool logging_in;
    bool broken;
};

/* ---- words ---- */

static enum status say(const struct redis_connection *connection, struct err *err,
                       enum status status, const char *words) {
    return err_set(err, status, "redis %.*s:%u: %s", BYTES_ARG(connection->url->host),
                   connection->url->port, words);
}

static enum status broke(struct redis_connection *connection, struct err *err, enum status status,
                         const char *words) {
    connection->broken = true;
    return say(connection, err, status, words);
}

/* Errors of the server, as texts for people. */
static const struct {
    const char *prefix;
    enum status status;
    const char *words;
} refusals[] = {
    {"NOAUTH", STATUS_FORBIDDEN, "the server requires a password, and the URL has none"},
    {"WRONGPASS", STATUS_FORBIDDEN, "the user or the password is refused"},
    {"ERR AUTH", STATUS_FORBIDDEN, "the server has no password, and the URL has one"},
    {"ERR invalid password", STATUS_FORBIDDEN, "the password is refused"},
    {"NOPERM", STATUS_FORBIDDEN, "the user lacks the permission"},
    {"WRONGTYPE", STATUS_CONFLICT, "the key holds another type"},
    {"NOGROUP", STATUS_NOT_FOUND, "no such stream or consumer group"},
    {"ERR unknown command", STATUS_NOT_YET, "Redis 6.2 or later is needed"},
    {"LOADING", STATUS_BUSY, "the server is still loading its data"},
    {"OOM", STATUS_FULL, "the server is out of memory"},
    {"MISCONF", STATUS_FULL, "the server cannot write to its disk"},
    {"READONLY", STATUS_CONFLICT, "the server is a read-only replica"},
    {"ASYNQ", STATUS_CONFLICT, "asynq has a task with that id"}, /* redis_entry.c says so */
    {"ERR DB index", STATUS_NOT_FOUND, "no such database"},
};

/* Servers quote what they do not understand: while logging in, that is the password. */
static struct bytes quotable(const struct redis_connection *connection, struct bytes said) {
    if (!connection->logging_in)
        return said;
    size_t end = bytes_find(said, connection->url->password);
    for (size_t i = 0; i < end; i++)
        if (strchr("'`\"", said.ptr[i]))
            end = i;
    return bytes_trim(bytes_cut(said, 0, end));
}

enum status redis_connection_refused(const struct redis_connection *connection,
                                     const redisReply *reply, struct err *err) {
    struct bytes said = {reply->str, (size_t)reply->len}, shown = quotable(connection, said);
    char words[400];
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        if (!bytes_starts(said, bytes_of(refusals[i].prefix)))
            continue;
        snprintf(words, sizeof words, "%s (%.*s)", refusals[i].words,
                 BYTES_ARG(bytes_clip(shown, 200)));
        return say(connection, err, refusals[i].status, words);
    }
    snprintf(words, sizeof words, "%.*s", BYTES_ARG(bytes_clip(shown, 300)));
    return say(connection, err, STATUS_BUSY, words);
}

/* ---- the socket ---- */

static struct mono now_of(const struct redis_connection *connection) {
    return clock_now(connection->clock).mono;
}

/* False: it did not become ready in time. */
static bool await_fd(struct redis_connection *connection, short events, struct mono until) {
    for (;;) {
        int64_t left = until.ms - now_of(connection).ms;
        struct pollfd watched = {.fd = connection->fd, .events = events};
        int ready = poll(&watched, 1, left > 0 ? (int)left : 0);
        if (ready > 0)
            return true;
        if (ready == 0 || errno != EINTR)
            return false;
    }
}

/* 0: connected; else errno. */
static int reach(struct redis_connection *connection, const struct addrinfo *at) {
    int error = 0, on = 1;
    socklen_t size = sizeof error;
    connection->fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->fd < 0)
        return errno;
    setsockopt(connection->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(connection->fd, at->ai_addr, at->ai_addrlen) == 0)
        return 0;
    if (errno != EINPROGRESS)
        return errno;
    if (!await_fd(connection, POLLOUT, mono_after(now_of(connection), REDIS_CONNECT_TIMEOUT_MS)))
        return ETIMEDOUT;
    getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    return error;
}

static enum status dial(struct redis_connection *connection, struct err *err) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM}, *found = NULL;
    char port[8];
    int error = 0;
    snprintf(port, sizeof port, "%u", connection->url->port);
    int looked_up = getaddrinfo(connection->url->host.ptr, port, &hints, &found);
    if (looked_up != 0)
        return broke(connection, err, STATUS_UNREACHABLE, gai_strerror(looked_up));
    for (const struct addrinfo *at = found; at; at = at->ai_next) {
        error = reach(connection, at);
        if (error == 0)
            break;
        if (connection->fd >= 0)
            close(connection->fd);
        connection->fd = -1;
    }
    freeaddrinfo(found);
    return error ? broke(connection, err, STATUS_UNREACHABLE, strerror(error)) : STATUS_OK;
}

/* Bytes moved; 0: would block, poll for *events; -1: the connection ended. */
static ssize_t move(struct redis_connection *connection, bool out, void *data, size_t len,
                    short *events) {
    *events = out ? POLLOUT : POLLIN;
    if (connection->tls)
        return out ? redis_tls_write(connection->tls, data, len, events)
                   : redis_tls_read(connection->tls, data, len, events);
    ssize_t moved =
        out ? send(connection->fd, data, len, MSG_NOSIGNAL) : recv(connection->fd, data, len, 0);
    if (moved > 0)
        return moved;
    bool later = moved < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    return later ? 0 : -1;
}

static enum status start_tls(struct redis_connection *connection, struct err *err) {
    char words[256] = "";
    struct mono until = mono_after(now_of(connection), REDIS_CONNECT_TIMEOUT_MS);
    connection->tls = redis_tls_new(connection->fd, connection->url->host.ptr,
                                    connection->url->ca_file.ptr, words, sizeof words);
    if (!connection->tls)
        return broke(connection, err, STATUS_UNREACHABLE, words);
    for (short events;;) {
        int done = redis_tls_shake(connection->tls, &events, words, sizeof words);
        if (done > 0)
            return STATUS_OK;
        if (done < 0)
            return broke(connection, err, STATUS_UNREACHABLE, words);
        if (!await_fd(connection, events, until))
            return broke(connection, err, STATUS_TIMEOUT, "the TLS handshake timed out");
    }
}

/* ---- commands and answers ---- */

void redis_connection_add(struct redis_connection *connection, const struct bytes *words,
                          size_t count) {
    const char *texts[WORDS_MAX];
    size_t lengths[WORDS_MAX];
    char *command = NULL;
    if (count > WORDS_MAX)
        abort();
    for (size_t i = 0; i < count; i++) {
        texts[i] = words[i].len ? words[i].ptr : "";
        lengths[i] = words[i].len;
    }
    int len = redisFormatCommandArgv(&command, (int)count, texts, lengths);
    if (len < 0)
        abort();
    buf_put(&connection->pipeline, command, (size_t)len);
    redisFreeCommand(command);
}

enum status redis_connection_send(struct redis_connection *connection, struct err *err) {
    struct mono until = mono_after(now_of(connection), REDIS_COMMAND_TIMEOUT_MS);
    size_t sent = 0;
    if (connection->pipeline.overflow)
        return broke(connection, err, STATUS_FULL, "the commands are too large to be sent at once");
    while (sent < connection->pipeline.len) {
        short events;
        ssize_t moved = move(connection, true, connection->pipeline.ptr + sent,
                             connection->pipeline.len - sent, &events);
        if (moved < 0)
            return broke(connection, err, STATUS_UNREACHABLE, "the connection was closed");
        if (moved == 0 && !await_fd(connection, events, until))
            return broke(connection, err, STATUS_TIMEOUT, "the server does not answer");
        sent += (size_t)moved;
    }
    buf_clear(&connection->pipeline);
    return STATUS_OK;
}

/* Reads what is there already; `events`: what to wait for before there is more. */
static enum status feed(struct redis_connection *connection, short *events, struct err *err) {
    char data[READ_AT_ONCE];
    for (;;) {
        ssize_t moved = move(connection, false, data, sizeof data, events);
        if (moved < 0)
            return broke(connection, err, STATUS_UNREACHABLE, "the connection was closed");
        if (moved == 0)
            return STATUS_OK;
        redisReaderFeed(connection->reader, data, (size_t)moved);
    }
}

static enum status take_answer(struct redis_connection *connection, redisReply **out,
                               struct err *err) {
    void *reply = NULL;
    if (redisReaderGetReply(connection->reader, &reply) != REDIS_OK)
        return broke(connection, err, STATUS_UNREACHABLE,
                     "protocol error: the server does not speak Redis's protocol");
    *out = reply;
    return STATUS_OK;
}

static enum status peek(struct redis_connection *connection, redisReply **out, short *events,
                        struct err *err) {
    enum status status = take_answer(connection, out, err);
    if (status != STATUS_OK || *out)
        return status;
    struct err ended = {STATUS_OK, ""};
    enum status fed = feed(connection, events, &ended);
    status = take_answer(connection, out, err);
    if (status != STATUS_OK || *out || fed == STATUS_OK)
        return status;
    if (err)
        *err = ended;
    return fed;
}

enum status redis_connection_peek(struct redis_connection *connection, redisReply **out,
                                  struct err *err) {
    short events;
    return peek(connection, out, &events, err);
}

redisReply *redis_connection_read(struct redis_connection *connection, int64_t wait_ms,
                                  struct err *err) {
    struct mono until = mono_after(now_of(connection), wait_ms);
    for (;;) {
        redisReply *reply = NULL;
        short events;
        if (peek(connection, &reply, &events, err) != STATUS_OK)
            return NULL;
        if (reply)
            return reply;
        if (!await_fd(connection, events, until)) {
            broke(connection, err, STATUS_TIMEOUT, "the server does not answer");
            return NULL;
        }
    }
}

redisReply *redis_connection_ask(struct redis_connection *connection, const struct bytes *words,
                                 size_t count, struct err *err) {
    redis_connection_add(connection, words, count);
    if (redis_connection_send(connection, err) != STATUS_OK)
        return NULL;
    redisReply *reply = redis_connection_read(connection, REDIS_COMMAND_TIMEOUT_MS, err);
    if (reply && reply->type == REDIS_REPLY_ERROR) {
        redis_connection_refused(connection, reply, err);
        freeReplyObject(reply);
        return NULL;
    }
    return reply;
}

enum status redis_connection_is(struct redis_connection *connection, struct bytes name,
                                const char *type, const char *words, struct err *err) {
    enum { NAME_SHOWN_MAX = 200 };
    char text[400];
    enum status status = STATUS_OK;
    struct bytes shown = bytes_clip(name, NAME_SHOWN_MAX);
    redisReply *reply =
        redis_connection_ask(connection, (struct bytes[]){BYTES("TYPE"), name}, 2, err);
    if (!reply)
        return err->status;
    struct bytes is = {reply->str, (size_t)reply->len};
    if (bytes_is(is, "none")) {
        snprintf(text, sizeof text, "there is no %s \"%.*s\"", words, BYTES_ARG(shown));
        status = say(connection, err, STATUS_NOT_FOUND, text);
    } else if (!bytes_is(is, type)) {
        snprintf(text, sizeof text, "\"%.*s\" is a %.*s, not a %s", BYTES_ARG(shown), BYTES_ARG(is),
                 words);
        status = say(connection, err, STATUS_CONFLICT, text);
    }
    freeReplyObject(reply);
    return status;
}

int redis_connection_fd(const struct redis_connection *connection) {
    return connection->fd;
}

bool redis_connection_ended(struct redis_connection *connection) {
    redisReply *reply = NULL;
    if (connection->broken || redis_connection_peek(connection, &reply, NULL) != STATUS_OK)
        return true;
    if (reply)
        freeReplyObject(reply);
    return reply != NULL;
}

bool redis_connection_usable(const struct redis_connection *connection) {
    return !connection->broken;
}

/* ---- beginning and end ---- */

static bool obeys(struct redis_connection *connection, const struct bytes *words, size_t count,
                  struct err *err) {
    redisReply *reply = redis_connection_ask(connection, words, count, err);
    if (reply)
        freeReplyObject(reply);
    return reply != NULL;
}

static bool log_in(struct redis_connection *connection, struct err *err) {
    struct bytes user = connection->url->user, password = connection->url->password;
    if (password.len == 0)
        return true;
    struct bytes both[] = {BYTES("AUTH"), user, password}, one[] = {BYTES("AUTH"), password};
    connection->logging_in = true;
    bool good = user.len ? obeys(connection, both, 3, err) : obeys(connection, one, 2, err);
    connection->logging_in = false;
    return good;
}

/* Database 0 is selected too: a server that requires a password says so here. */
static bool choose_database(struct redis_connection *connection, struct err *err) {
    char number[16];
    snprintf(number, sizeof number, "%u", connection->url->database);
    return obeys(connection, (struct bytes[]){BYTES("SELECT"), bytes_of(number)}, 2, err);
}

struct redis_connection *redis_connection_open(const struct redis_url *url, struct clock *clock,
                                               struct err *err) {
    struct redis_connection *connection = memory_new(sizeof *connection);
    connection->url = url;
    connection->clock = clock;
    connection->fd = -1;
    connection->reader = redisReaderCreate();
    buf_init_heap(&connection->pipeline, PIPELINE_MAX);
    if (!connection->reader)
        abort();
    if (dial(connection, err) == STATUS_OK &&
        (!url->tls || start_tls(connection, err) == STATUS_OK) && log_in(connection, err) &&
        choose_database(connection, err))
        return connection;
    redis_connection_free(connection);
    return NULL;
}

void redis_connection_free(struct redis_connection *connection) {
    if (!connection)
        return;
    redis_tls_free(connection->tls);
    if (connection->fd >= 0)
        close(connection->fd);
    redisReaderFree(connection->reader);
    buf_free(&connection->pipeline);
    free(connection);
}
