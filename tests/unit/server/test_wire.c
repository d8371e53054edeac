/* Good manners and bad ones on the wire: limits, slow and rude clients, stopping. */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client.h"
#include "server/events.h"
#include "server/head.h"
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

static void an_announced_large_body_is_refused_before_it_comes(void **state) {
    (void)state;
    int fd = client_connect(&world);
    client_send(fd, POST "Content-Length: 100000000\r\n\r\n");
    client_expect(client_read_one(fd), 413, "server.max_body, 64KiB");
    close(fd);
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

static void expect_problem(char *answer, int status, const char *says) {
    assert_non_null(strstr(answer, "Content-Type: application/problem+json\r\n"));
    client_expect(answer, status, says);
}

/* Each is sent to its end, and its answer read, by a client that does not look up before: as the
 * first request of a connection, and as a later one. */
static void header_bombs_are_problems_that_name_the_limit(void **state) {
    (void)state;
    static const struct {
        const char *head;
        size_t run;       /* of one byte, behind the head as it stands */
        int args, fields; /* then so many query parameters, so many headers */
        int status;
        const char *says;
    } rows[] = {
        {GET("/healthz") "X: ", 100 << 10, 0, 0, 431, "larger than 32KiB"},
        {GET("/healthz") "X: ", 2 << 20, 0, 0, 431, "larger than 32KiB"},
        {GET("/healthz"), 0, 0, 10000, 431, "more than 256 header lines"},
        {"GET /", 200 << 10, 0, 0, 414, "longer than 16KiB"},
        {"GET /v1/letters?", 0, 5000, 0, 414, "longer than 16KiB"},
        {"GET /v1/letters?", 0, 100, 0, 400, "more than 64 query parameters"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf text;
        buf_init_heap(&text, 4 << 20);
        buf_str(&text, rows[i].head);
        put_run(&text, rows[i].run);
        for (int arg = 0; arg < rows[i].args; arg++)
            buf_printf(&text, "a%d=b&", arg);
        if (rows[i].args > 0)
            buf_str(&text, "z HTTP/1.1\r\nHost: localhost\r\n");
        put_fields(&text, rows[i].fields);
        buf_str(&text, "\r\n\r\n");
        for (int before = 0; before < 2; before++)
            expect_problem(say_behind(before, buf_cstr(&text)), rows[i].status, rows[i].says);
        buf_free(&text);
    }
    client_expect(client_get(&world, "/healthz"), 200, "ok");
}

static void the_largest_head_is_taken(void **state) {
    (void)state;
    struct buf text;
    buf_init_heap(&text, 1 << 20);
    buf_str(&text, "GET /healthz?");
    for (int arg = 1; arg < HEAD_ARGS_MAX; arg++)
        buf_printf(&text, "a%d=b&", arg);
    buf_str(&text, "z=");
    put_run(&text, 8 << 10);
    buf_str(&text, " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n");
    put_fields(&text, HEAD_FIELDS_MAX - 3);
    buf_str(&text, "Y: ");
    put_run(&text, HEAD_BYTES_MAX - 4 - text.len);
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
    put_fields(&text, HEAD_FIELDS_MAX + 1);
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

static void a_head_that_never_ends_is_given_its_time(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    int silent = client_connect(&mine), fd = client_connect(&mine);
    client_send(fd, GET("/healthz") "X-Never: ");
    client_world_go_on(&mine);
    client_expect(client_read_all(fd), 408, "did not arrive within 50ms");
    /* Who never asked is not answered. */
    char *nothing = client_read_all(silent);
    assert_string_equal(nothing, "");
    free(nothing);
    close(fd);
    close(silent);
    client_world_close(&mine);
}

/* Also one that is behind another request, that has nothing of its body yet, or that is too large
 * already. */
static void a_body_that_stops_arriving_is_given_its_time_and_answered(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int status;
        const char *words;
    } cases[] = {
        {POST "Content-Length: 100\r\n\r\n{\"bo", 408, "the body did not arrive within 50ms"},
        {POST "Content-Length: 100\r\n\r\n", 408, "the body did not arrive within 50ms"},
        {POST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"bod\r\n", 408,
         "the body did not arrive within 50ms"},
        {"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{", 404,
         "there is no such path"},
    };
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        int fd = enter(&mine, i % 2 == 1);
        client_send(fd, cases[i / 2].text);
        client_world_go_on(&mine);
        expect_problem(client_read_all(fd), cases[i / 2].status, cases[i / 2].words);
        client_world_stop_time(&mine);
        close(fd);
    }
    client_world_close(&mine);
}

/* It has no end, and so libmicrohttpd never asks for the answer. */
static void a_chunked_body_that_is_too_large_is_told_so_without_its_end(void **state) {
    (void)state;
    enum { CHUNK = 0x1000, CHUNKS = 64 }; /* four times what is allowed */
    static char chunk[CHUNK + 1];
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    int fd = client_connect(&mine);
    memset(chunk, 'x', CHUNK);
    client_send(fd, POST "Transfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < CHUNKS; i++) {
        client_send(fd, "1000\r\n");
        client_send(fd, chunk);
        client_send(fd, "\r\n");
    }
    client_world_go_on(&mine);
    expect_problem(client_read_all(fd), 413, "larger than server.max_body, 64KiB");
    close(fd);
    client_world_close(&mine);
}

static void a_later_head_is_given_its_time_too(void **state) {
    (void)state;
    struct client_world mine;
    client_world_open_impatient(&mine, 50);
    int fds[2];
    for (int i = 0; i < 2; i++) {
        fds[i] = client_connect(&mine);
        client_send(fds[i], "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        client_expect(client_read_one(fds[i]), 200, "ok");
    }
    client_send(fds[0], "GET /hea");
    client_world_go_on(&mine);
    expect_problem(client_read_all(fds[0]), 408, "did not arrive within 50ms");
    char *nothing = client_read_all(fds[1]);
    assert_string_equal(nothing, "");
    free(nothing);
    close(fds[0]);
    close(fds[1]);
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

/* Where its next request would begin is not known, or is not asked for. */
static void a_connection_is_not_kept_behind(const char *text, const char *says) {
    char *answer = say_behind(true, text);
    assert_non_null(strstr(answer, "Connection: close\r\n"));
    client_expect(answer, 200, says);
}

static void a_connection_is_not_kept_behind_chunks_nor_for_http_1_0(void **state) {
    (void)state;
    a_connection_is_not_kept_behind("POST " MESSAGES " HTTP/1.1\r\nHost: localhost\r\n"
                                    "Transfer-Encoding: chunked\r\n\r\n"
                                    "a\r\n{\"body\":1}\r\n0\r\n\r\n",
                                    "ids");
    a_connection_is_not_kept_behind("GET /healthz HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
                                    "ok");
}

/* It may close its side with its last request. */
static void a_client_that_has_said_its_last_is_answered(void **state) {
    (void)state;
    for (int before = 0; before < 2; before++) {
        int fd = enter(&world, before);
        client_send(fd, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
        shutdown(fd, SHUT_WR);
        client_expect(client_read_all(fd), 200, "ok");
        close(fd);
    }
}

static void rubbish_is_a_problem(void **state) {
    (void)state;
    static const char *const rows[] = {
        "\r\n\r\n",
        "GET\r\n\r\n",
        " / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02",
        "GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",
        GET("/") "no colon\r\n\r\n",
        GET("/") "half a he",
        POST "Content-Length: -1\r\n\r\n",
        POST "Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        POST "Transfer-Encoding: gzip\r\n\r\n",
    };
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        int fd = enter(&world, i % 2);
        client_send(fd, rows[i / 2]);
        shutdown(fd, SHUT_WR);
        client_expect(client_read_all(fd), 400, "application/problem+json");
        close(fd);
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
        TEST(header_bombs_are_problems_that_name_the_limit),
        TEST(the_largest_head_is_taken),
        TEST(a_refused_push_on_a_kept_connection_pushes_nothing),
        TEST(a_head_may_come_byte_by_byte),
        TEST(a_head_that_never_ends_is_given_its_time),
        TEST(a_body_that_stops_arriving_is_given_its_time_and_answered),
        TEST(a_chunked_body_that_is_too_large_is_told_so_without_its_end),
        TEST(a_later_head_is_given_its_time_too),
        TEST(a_refused_head_has_no_body_for_head),
        TEST(foreign_hosts_and_origins_are_refused),
        TEST(a_wrong_method_is_told_the_right_one),
        TEST(head_is_get_without_a_body),
        TEST(http_1_0_needs_no_host),
        TEST(one_connection_carries_many_requests),
        TEST(requests_may_come_before_the_answers),
        TEST(a_connection_is_not_kept_behind_chunks_nor_for_http_1_0),
        TEST(a_client_that_has_said_its_last_is_answered),
        TEST(rubbish_is_a_problem),
        TEST(half_a_body_hurts_nobody),
        WAIT(a_push_is_answered_only_when_durable),
        WAIT(a_client_may_leave_while_its_push_waits),
        WAIT(stopping_answers_what_waits),
        TEST(a_busy_address_is_said_to_be_busy),
        TEST(events_reach_everyone_who_listens),
        TEST(one_listener_too_many_is_refused),
        TEST(a_listener_that_does_not_read_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
