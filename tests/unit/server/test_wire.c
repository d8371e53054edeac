/* Good manners and bad ones on the wire: limits, slow and rude clients, stopping. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "server/http/events.h"
#include "server/http/request.h"
#include "store/fake_store.h"

static struct client_world world;

#define MESSAGES  "/v1/queues/orders/messages"
#define POST      "POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
#define GET(path) "GET " path " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"

/* A connection that has asked something before, or a new one. */
static int enter(struct client_world *where, bool before) {
    int fd = client_connect(where);
    if (before) {
        client_send(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_expect(client_read_one(fd), 200, "ok");
    }
    return fd;
}

static char *say_behind(bool before, const char *text) {
    int fd = enter(&world, before);
    client_send(fd, text);
    char *answer = client_read_all(fd);
    close(fd);
    return answer;
}

static char *say(const char *text) {
    return say_behind(false, text);
}

static void expect_problem(char *answer, int status, const char *says) {
    assert_non_null(strstr(answer, "Content-Type: application/problem+json\r\n"));
    client_expect(answer, status, says);
}

/* One that its client asks for first, and one that is not worth reading. */
static void an_announced_large_body_is_refused_before_it_comes(void **state) {
    (void)state;
    static const char *const rows[] = {
        POST "Expect: 100-continue\r\nContent-Length: 100000000\r\n\r\n",
        POST "Content-Length: 1000000000\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        expect_problem(say(rows[i]), 413, "server.max_body, 64KiB");
}

/* The client is not reset while it sends, and finds its answer afterwards. */
static void a_large_body_that_is_sent_whole_is_answered(void **state) {
    (void)state;
    enum { SIZE = 32 * 1024 * 1024 };
    char *body = malloc(SIZE + 1);
    memset(body, 'x', SIZE);
    body[SIZE] = '\0';
    client_expect(client_post(&world, MESSAGES, body), 413, "larger than server.max_body");
    free(body);
}

static void a_chunked_body_over_the_limit_is_refused(void **state) {
    (void)state;
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, POST "Transfer-Encoding: chunked\r\n\r\n");
    for (int chunk = 0; chunk < 20; chunk++) {
        buf_str(&text, "1000\r\n");
        memset(buf_room(&text, 0x1000), 'x', 0x1000);
        buf_str(&text, "\r\n");
    }
    buf_str(&text, "0\r\n\r\n");
    client_expect(say(buf_cstr(&text)), 413, "larger than server.max_body");
    buf_free(&text);
}

static void a_chunked_body_within_the_limit_is_taken(void **state) {
    (void)state;
    client_expect(
        say(POST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"bod\r\n5\r\ny\":1}\r\n0\r\n\r\n"), 200,
        "\"ids\":[");
}

/* ---- heads ---- */

/* "X-1: 1" and so on, `count` times. */
static void put_fields(struct buf *text, int count) {
    for (int i = 0; i < count; i++)
        buf_printf(text, "X-%d: %d\r\n", i, i);
}

static void put_run(struct buf *text, size_t len) {
    memset(buf_room(text, len), 'x', len);
}

/* A GET with so much of each. */
struct bomb {
    size_t path, value; /* bytes */
    int args, fields;
    int status;
    const char *says;
};

static void put_bomb(struct buf *text, const struct bomb *bomb) {
    buf_str(text, "GET /healthz");
    put_run(text, bomb->path);
    for (int arg = 0; arg < bomb->args; arg++)
        buf_printf(text, "%ca%d=b", arg == 0 ? '?' : '&', arg);
    buf_str(text, " HTTP/1.1\r\nHost: localhost\r\nX: ");
    put_run(text, bomb->value);
    buf_str(text, "\r\n");
    put_fields(text, bomb->fields);
    buf_str(text, "\r\n");
}

/* As the first request of a connection, and as a later one. */
static void heads_beyond_a_limit_are_problems_that_name_it(void **state) {
    (void)state;
    static const struct bomb rows[] = {
        {0, 40 << 10, 0, 0, 431, "larger than 32KiB"},
        {0, 0, 0, 300, 431, "more than 256 header lines"},
        {20 << 10, 0, 0, 0, 414, "longer than 16KiB"},
        {0, 0, 100, 0, 400, "more than 64 query parameters"},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct buf text;
        buf_init_heap(&text, 1 << 20);
        put_bomb(&text, &rows[i / 2]);
        expect_problem(say_behind(i % 2, buf_cstr(&text)), rows[i / 2].status, rows[i / 2].says);
        buf_free(&text);
    }
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

/* libmicrohttpd refuses them by itself. It does not read them to their end, so that sending may
 * fail, and behind the answer the connection may be reset. */
static void heads_beyond_all_memory_are_refused_plainly(void **state) {
    (void)state;
    static const struct bomb rows[] = {
        {0, 100 << 10, 0, 0, 431, "too big"},
        {0, 2 << 20, 0, 0, 431, "too big"},
        {0, 0, 0, 10000, 431, "too big"},
        {200 << 10, 0, 0, 0, 414, "too big"},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct buf text;
        buf_init_heap(&text, 4 << 20);
        put_bomb(&text, &rows[i / 2]);
        int fd = enter(&world, i % 2);
        for (size_t sent = 0; sent < text.len;) {
            ssize_t len = send(fd, text.ptr + sent, text.len - sent, MSG_NOSIGNAL);
            if (len <= 0)
                break;
            sent += (size_t)len;
        }
        client_expect(client_read_one(fd), rows[i / 2].status, rows[i / 2].says);
        close(fd);
        buf_free(&text);
    }
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

static void more_parameters_than_libmicrohttpd_has_room_for_are_not_answered(void **state) {
    (void)state;
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    put_bomb(&text, &(struct bomb){.args = 5000});
    char *nothing = say(buf_cstr(&text));
    assert_string_equal(nothing, "");
    free(nothing);
    buf_free(&text);
}

/* Whatever two parsers could read in two ways, and wherever it stands: first on a connection,
 * later, or ahead of an answer. Nothing behind it is read. */
static void an_ambiguous_request_is_refused_and_nothing_behind_it_is_read(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
         "Content-Length: 10\r\n\r\n{\"body\":1}",
         "Content-Length is given twice"},
        {"POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
         "Transfer-Encoding: chunked\r\n\r\na\r\n{\"body\":1}\r\n0\r\n\r\n",
         "Content-Length and Transfer-Encoding"},
        {"POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
         "Transfer-Encoding taken is chunked"},
        {"POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
         "Transfer-Encoding: chunked\r\n\r\na\r\n{\"body\":1}\r\n0\r\n\r\n",
         "Transfer-Encoding is given twice"},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
         "Host is given twice"},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
         "Origin: http://evil.example\r\n\r\n",
         "Origin is given twice"},
        {"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\x01"
         "b\r\n\r\n",
         "is not \\\"Name: value\\\""},
        {"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n", "is not \\\"Name: value\\\""},
        {"GET /healthz HTTP/1.1\r\n\r\n", "no Host header"},
    };
    struct store_queue_counts before, after;
    uint32_t number = world.store->vtable->queue_number(world.store, BYTES("orders"));
    world.store->vtable->counts(world.store, number, &before);
    for (size_t i = 0; i < 3 * sizeof rows / sizeof *rows; i++) {
        struct buf text;
        buf_init_heap(&text, 1 << 12);
        if (i % 3 == 2)
            buf_str(&text, "GET /v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n");
        buf_str(&text, rows[i / 3].text);
        buf_str(&text, POST "Content-Length: 10\r\n\r\n{\"body\":2}");
        int fd = enter(&world, i % 3 == 1);
        client_send(fd, buf_cstr(&text));
        char *answer = client_read_until(fd, rows[i / 3].says);
        assert_int_equal(strstr(answer, "\"queues\":[") != NULL, i % 3 == 2);
        assert_non_null(strstr(answer, "HTTP/1.1 400 "));
        assert_non_null(strstr(answer, "Connection: close\r\n"));
        free(answer);
        buf_free(&text);
        char rest[512]; /* until the connection is closed */
        while (recv(fd, rest, sizeof rest, 0) > 0) {
        }
        close(fd);
    }
    world.store->vtable->counts(world.store, number, &after);
    assert_int_equal(after.queued, before.queued);
}

static void the_largest_head_is_taken(void **state) {
    (void)state;
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, "GET /healthz?");
    for (int arg = 1; arg < REQUEST_ARGS_MAX; arg++)
        buf_printf(&text, "a%d=b&", arg);
    buf_str(&text, "z=");
    put_run(&text, 8 << 10);
    buf_str(&text, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    put_fields(&text, REQUEST_FIELDS_MAX - 3);
    buf_str(&text, "Y: ");
    put_run(&text, REQUEST_HEAD_MAX - 4 - text.len);
    buf_str(&text, "\r\n\r\n");
    client_expect(say(buf_cstr(&text)), 200, "ok");
    buf_free(&text);
}

/* libmicrohttpd still reads what was refused, and could make something of it. */
static void a_refused_push_on_a_kept_connection_pushes_nothing(void **state) {
    (void)state;
    struct store_queue_counts before, after;
    struct buf text;
    uint32_t number = world.store->vtable->queue_number(world.store, BYTES("orders"));
    world.store->vtable->counts(world.store, number, &before);
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, POST "Content-Length: 10\r\n");
    put_fields(&text, REQUEST_FIELDS_MAX + 1);
    buf_str(&text, "\r\n{\"body\":1}");
    expect_problem(say_behind(true, buf_cstr(&text)), 431, "header lines");
    world.store->vtable->counts(world.store, number, &after);
    assert_int_equal(after.queued, before.queued);
    buf_free(&text);
}

static void a_head_may_come_byte_by_byte(void **state) {
    (void)state;
    static const char text[] = GET("/healthz") "\r\n";
    for (int before = 0; before < 2; before++) {
        int fd = enter(&world, before);
        for (size_t i = 0; i + 1 < sizeof text; i++)
            assert_int_equal(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
        client_expect(client_read_all(fd), 200, "ok");
        close(fd);
    }
}

static void expect_silence(int fd) {
    char *nothing = client_read_all(fd);
    assert_string_equal(nothing, "");
    free(nothing);
    close(fd);
}

static void a_head_that_never_ends_is_given_its_time(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    int silent = client_connect(&mine), fd = client_connect(&mine);
    client_send(fd, GET("/healthz") "X-Never: ");
    client_world_go_on(&mine);
    expect_silence(fd);
    expect_silence(silent);
    client_world_close(&mine);
}

/* Also one that is behind another request, that has nothing of its body yet, or that will be
 * refused. */
static void a_body_that_stops_arriving_is_given_its_time(void **state) {
    (void)state;
    static const char *const rows[] = {
        POST "Content-Length: 100\r\n\r\n{\"bo",
        POST "Content-Length: 100\r\n\r\n",
        POST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"bod\r\n",
        "POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
        POST "Content-Length: 1000000\r\n\r\n{",
    };
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        int fd = enter(&mine, i % 2 == 1);
        client_send(fd, rows[i / 2]);
        client_world_go_on(&mine);
        expect_silence(fd);
        client_world_stop_time(&mine);
    }
    client_world_close(&mine);
}

static void a_later_head_is_given_its_time_too(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    int begun = enter(&mine, true), silent = enter(&mine, true);
    client_send(begun, "GET /hea");
    client_world_go_on(&mine);
    expect_silence(begun);
    expect_silence(silent);
    client_world_close(&mine);
}

static void a_refused_head_has_no_body_for_head(void **state) {
    (void)state;
    char *answer = say("HEAD /healthz HTTP/7\r\n\r\n");
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    client_expect(answer, 400, "Content-Length: ");
}

/* ---- manners ---- */

static void foreign_hosts_and_origins_are_refused(void **state) {
    (void)state;
    client_expect(say("GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"),
                  403, "is not this server");
    client_expect(say(POST "Origin: http://evil.example\r\nContent-Length: 10\r\n\r\n{\"body\":1}"),
                  403, "is another site");
    client_expect(say(POST "Origin: http://localhost\r\nContent-Length: 10\r\n\r\n{\"body\":1}"),
                  200, "ids");
}

static void a_wrong_method_is_told_the_right_one(void **state) {
    (void)state;
    char *answer = client_ask(&world, "DELETE", "/v1/queues/orders", NULL, NULL);
    assert_non_null(strstr(answer, "Allow: GET, HEAD, OPTIONS\r\n"));
    client_expect(answer, 405, "it takes GET, HEAD, OPTIONS");
}

static void head_is_get_without_a_body(void **state) {
    (void)state;
    char *answer = client_ask(&world, "HEAD", "/v1/queues", NULL, NULL);
    assert_string_equal(strstr(answer, "\r\n\r\n"), "\r\n\r\n");
    client_expect(answer, 200, "Content-Length: ");
}

static void http_1_0_needs_no_host(void **state) {
    (void)state;
    client_expect(say("GET /healthz HTTP/1.0\r\n\r\n"), 200, "ok");
}

static void one_connection_carries_many_requests(void **state) {
    (void)state;
    int fd = client_connect(&world);
    for (int i = 0; i < 3; i++) {
        client_send(fd,
                    "POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
                    "{\"body\":1}");
        client_expect(client_read_one(fd), 200, "ids");
        client_send(fd, "POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\n"
                        "Transfer-Encoding: chunked\r\n\r\na\r\n{\"body\":1}\r\n0\r\n\r\n");
        client_expect(client_read_one(fd), 200, "ids");
        client_send(fd, "GET /v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_expect(client_read_one(fd), 200, "orders");
        client_send(fd, "POST /v1/queues/nope/messages HTTP/1.1\r\nHost: localhost\r\n"
                        "Content-Length: 10\r\n\r\n{\"body\":1}");
        client_expect(client_read_one(fd), 404, "nope");
    }
    close(fd);
}

static void requests_may_come_before_the_answers(void **state) {
    (void)state;
    int fd = enter(&world, true);
    for (int i = 0; i < 3; i++) {
        client_send(fd,
                    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
                    "POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n"
                    "{\"body\":1}GET /v1/que");
        free(client_read_until(fd, "\"ids\":["));
        client_send(fd, "ues HTTP/1.1\r\nHost: localhost\r\n\r\n");
        free(client_read_until(fd, "\"queues\":["));
    }
    close(fd);
}

static void a_connection_is_not_kept_for_http_1_0(void **state) {
    (void)state;
    char *answer = say_behind(true, "GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    assert_non_null(strstr(answer, "Connection: close\r\n"));
    client_expect(answer, 200, "ok");
}

/* It may close its side with its last request, or with several, and is told the end. */
static void a_client_that_has_said_its_last_is_answered(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        int fd = enter(&world, i % 2);
        if (i / 2)
            client_send(fd, "GET /v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_send(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        shutdown(fd, SHUT_WR);
        char *answer = client_read_all(fd);
        assert_int_equal(strstr(answer, "\"queues\":[") != NULL, i / 2);
        client_expect(answer, 200, "\"status\":\"ok\"");
        close(fd);
    }
}

/* By libmicrohttpd, where it can tell that this is no HTTP. */
static void rubbish_is_refused_or_not_answered(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int status; /* 0: closed */
    } rows[] = {
        {"GET\r\n\r\n", 0},
        {" / HTTP/1.1\r\n\r\n", 0},
        {"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n", 505},
        {GET("/") "no colon\r\n\r\n", 400},
        {POST "Content-Length: -1\r\n\r\n", 400},
        {POST "Transfer-Encoding: chunked\r\n\r\nZZ\r\n", 400},
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        char *answer = say_behind(i % 2, rows[i / 2].text);
        assert_int_equal(client_status(answer), rows[i / 2].status);
        free(answer);
    }
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

static void half_a_body_hurts_nobody(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open_impatient(&mine, 1);
    int fd = client_connect(&mine);
    client_send(fd, POST "Content-Length: 10\r\n\r\n{\"bo");
    shutdown(fd, SHUT_WR);
    client_world_go_on(&mine);
    char answer[512];
    while (recv(fd, answer, sizeof answer, 0) >
           0) { /* an answer, an end or a reset: all are fair */
    }
    close(fd);
    client_world_stop_time(&mine);
    client_expect(client_get(&mine, "/healthz"), 200, "ok");
    client_world_close(&mine);
}

/* ---- waiting for durability ---- */

/* Steps the store until the commit that is on its way has been answered. */
static void step_until_queued(uint64_t wanted) {
    struct store_queue_counts counts;
    uint32_t number = world.store->vtable->queue_number(world.store, BYTES("orders"));
    do {
        fake_store_step(world.store);
        world.store->vtable->counts(world.store, number, &counts);
        sched_yield();
    } while (counts.queued < wanted);
}

/* A store that tells of what it was given. */
static const struct store_vtable *told_vtable;
static atomic_bool told;

static void tell_submit(struct store *store, struct store_commit *commit) {
    told_vtable->submit(store, commit);
    atomic_store(&told, true);
}

static void make_it_tell(struct store *store) {
    static struct store_vtable telling;
    telling = *(told_vtable = store->vtable);
    telling.submit = tell_submit;
    store->vtable = &telling;
    atomic_store(&told, false);
}

static void await_submit(void) {
    while (!atomic_load(&told))
        sched_yield();
}

static void a_push_is_answered_only_when_durable(void **state) {
    (void)state;
    make_it_tell(world.store);
    int fd = client_connect(&world);
    client_send(fd, POST "Content-Length: 10\r\n\r\n{\"body\":1}");
    await_submit();
    /* Others are served meanwhile: no thread waits with the push. */
    for (int i = 0; i < 8; i++)
        client_expect(client_get(&world, "/healthz"), 200, "ok");
    char none;
    assert_true(recv(fd, &none, 1, MSG_DONTWAIT) < 0);
    step_until_queued(1);
    client_expect(client_read_all(fd), 200, "ids");
    close(fd);
}

static void a_client_may_leave_while_its_push_waits(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        int fd = client_connect(&world);
        client_send(fd, POST "Content-Length: 10\r\n\r\n{\"body\":1}");
        struct linger hard = {.l_onoff = 1};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
        client_expect(client_get(&world, "/healthz"), 200, "ok");
        close(fd);
    }
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

static void *stop(void *arg) {
    struct client_world *stopped = arg;
    server_stop(stopped->server);
    return NULL;
}

static void stopping_answers_what_waits(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open(&mine, false);
    make_it_tell(mine.store);
    int fd = client_connect(&mine);
    client_send(fd, POST "Content-Length: 10\r\n\r\n{\"body\":1}");
    int listener = client_connect(&mine);
    client_send(listener, GET("/v1/events") "\r\n");
    free(client_read_until(listener, ": listening"));
    await_submit(); /* a push that comes later is refused */
    pthread_t stopper;
    pthread_create(&stopper, NULL, stop, &mine);
    free(client_read_all(listener)); /* ends, because the server stops */
    uint32_t number = mine.store->vtable->queue_number(mine.store, BYTES("orders"));
    struct store_queue_counts counts;
    do {
        fake_store_step(mine.store);
        mine.store->vtable->counts(mine.store, number, &counts);
        sched_yield();
    } while (counts.queued < 1);
    client_expect(client_read_all(fd), 200, "ids");
    pthread_join(stopper, NULL);
    close(fd);
    close(listener);
    mine.store->vtable->close(mine.store);
}

/* An event stream stays open meanwhile: accepting goes on though no connection closes. */
static void a_connection_that_found_no_descriptor_is_accepted_later(void **state) {
    (void)state;
    struct rlimit limit, none;
    int listener = client_connect(&world), kept = enter(&world, true);
    client_send(listener, GET("/v1/events") "\r\n");
    free(client_read_until(listener, ": listening"));
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = (struct rlimit){0, limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    client_connect_with(&world, fd);
    client_send(fd, GET("/healthz") "\r\n");
    for (int i = 0; i < 3; i++) { /* connections that are open go on */
        client_send(kept, "GET /v1/queues HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_expect(client_read_one(kept), 200, "orders");
    }
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    client_expect(client_read_all(fd), 200, "ok");
    close(fd);
    close(kept);
    close(listener);
}

static void a_busy_address_is_said_to_be_busy(void **state) {
    (void)state;
    struct server_options options = {.host = "127.0.0.1", .port = world.port};
    struct server *second;
    struct err err;
    assert_int_equal(server_start(&options, &second, &err), STATUS_BUSY);
    assert_non_null(strstr(err.text, "cannot listen at 127.0.0.1:"));
}

/* ---- events ---- */

static int listen_to_events(void) {
    int fd = client_connect(&world);
    client_send(fd, GET("/v1/events") "\r\n");
    return fd;
}

static void publish(const char *json) {
    struct engine_event event = {.type = "letter", .json = bytes_of(json)};
    server_publish(world.server, &event);
}

static void events_reach_everyone_who_listens(void **state) {
    (void)state;
    int a = listen_to_events(), b = listen_to_events();
    free(client_read_until(a, ": listening"));
    free(client_read_until(b, ": listening"));
    publish("{\"n\":1}");
    free(client_read_until(a, "event: letter\ndata: {\"n\":1}\n\n"));
    publish("{\"n\":2}");
    free(client_read_until(a, "event: letter\ndata: {\"n\":2}\n\n"));
    free(client_read_until(b, "event: letter\ndata: {\"n\":2}\n\n"));
    close(a);
    close(b);
}

static void one_listener_too_many_is_refused(void **state) {
    (void)state;
    int fds[EVENTS_LISTENERS_MAX];
    for (size_t i = 0; i < EVENTS_LISTENERS_MAX; i++) {
        fds[i] = listen_to_events();
        free(client_read_until(fds[i], ": listening"));
    }
    client_expect(client_get(&world, "/v1/events"), 503, "64 listeners");
    for (size_t i = 0; i < EVENTS_LISTENERS_MAX; i++)
        close(fds[i]);
}

static void a_listener_that_does_not_read_is_dropped(void **state) {
    (void)state;
    int slow = listen_to_events();
    free(client_read_until(slow, ": listening"));
    char *large = malloc(100001);
    memset(large, 'x', 100000);
    large[100000] = '\0';
    /* More than its socket and its backlog can hold together. */
    for (int i = 0; i < 400; i++)
        publish(large);
    free(large);
    /* What it was sent before it was dropped, then the end. */
    free(client_read_all(slow));
    close(slow);
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

static int setup_immediate(void **state) {
    (void)state;
    client_world_open(&world, true);
    return 0;
}

static int setup_waiting(void **state) {
    (void)state;
    client_world_open(&world, false);
    return 0;
}

static void *step_forever(void *arg) {
    atomic_bool *ended = arg;
    while (!atomic_load(ended)) {
        fake_store_step(world.store);
        sched_yield();
    }
    return NULL;
}

/* Stopping waits for what the store holds, so somebody must go on stepping it. */
static int teardown(void **state) {
    (void)state;
    atomic_bool ended = false;
    pthread_t stepper;
    pthread_create(&stepper, NULL, step_forever, &ended);
    server_stop(world.server);
    atomic_store(&ended, true);
    pthread_join(stepper, NULL);
    world.store->vtable->close(world.store);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup_immediate, teardown)
#define WAIT(name) cmocka_unit_test_setup_teardown(name, setup_waiting, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(an_announced_large_body_is_refused_before_it_comes),
        TEST(a_large_body_that_is_sent_whole_is_answered),
        TEST(a_chunked_body_over_the_limit_is_refused),
        TEST(a_chunked_body_within_the_limit_is_taken),
        TEST(heads_beyond_a_limit_are_problems_that_name_it),
        TEST(heads_beyond_all_memory_are_refused_plainly),
        TEST(more_parameters_than_libmicrohttpd_has_room_for_are_not_answered),
        TEST(an_ambiguous_request_is_refused_and_nothing_behind_it_is_read),
        TEST(the_largest_head_is_taken),
        TEST(a_refused_push_on_a_kept_connection_pushes_nothing),
        TEST(a_head_may_come_byte_by_byte),
        TEST(a_head_that_never_ends_is_given_its_time),
        TEST(a_body_that_stops_arriving_is_given_its_time),
        TEST(a_later_head_is_given_its_time_too),
        TEST(a_refused_head_has_no_body_for_head),
        TEST(foreign_hosts_and_origins_are_refused),
        TEST(a_wrong_method_is_told_the_right_one),
        TEST(head_is_get_without_a_body),
        TEST(http_1_0_needs_no_host),
        TEST(one_connection_carries_many_requests),
        TEST(requests_may_come_before_the_answers),
        TEST(a_connection_is_not_kept_for_http_1_0),
        TEST(a_client_that_has_said_its_last_is_answered),
        TEST(rubbish_is_refused_or_not_answered),
        TEST(half_a_body_hurts_nobody),
        WAIT(a_push_is_answered_only_when_durable),
        WAIT(a_client_may_leave_while_its_push_waits),
        WAIT(stopping_answers_what_waits),
        TEST(a_connection_that_found_no_descriptor_is_accepted_later),
        TEST(a_busy_address_is_said_to_be_busy),
        TEST(events_reach_everyone_who_listens),
        TEST(one_listener_too_many_is_refused),
        TEST(a_listener_that_does_not_read_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
