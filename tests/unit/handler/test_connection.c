/* Connections that are kept, break, hang or are many. */
#include "test.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "http_bench.h"

static void hang_up(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
}

static void reset(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_reset_on_close(fd);
}

static void talk_garbage(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_write(fd, "\x01\x02 what is this\r\n");
}

static void break_off_an_ok(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
}

static void no_answer_is_a_reset(void **state) {
    peer_serve *const ways[] = {hang_up, reset, talk_garbage, break_off_an_ok};
    struct http_bench *bench = *state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        http_bench_begin(bench, ways[i]);
        struct caller caller;
        caller_init(&caller);
        http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
        assert_int_equal(caller.outcome.ending, ENDING_FAILED);
        assert_int_equal(caller.outcome.kind, KIND_RESET);
        assert_true(caller.outcome.error_message.len > 0);
        assert_int_equal(bench->peer.requests, 1); /* a fresh connection is not tried again */
        caller_free(&caller);
        peer_stop(&bench->peer);
        bench->peer.serve = NULL;
    }
}

static void break_off_a_refusal(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 503 No\r\nRetry-After: 2\r\nContent-Length: 100\r\n\r\nhalf");
}

static void a_refusal_that_breaks_off_is_still_that_refusal(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, break_off_a_refusal);
    struct caller caller;
    caller_init(&caller);
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_STATUS);
    assert_int_equal(caller.outcome.status, 503);
    assert_int_equal(caller.outcome.retry_after_ms, 2000);
    assert_bytes(caller.outcome.error_message, "half");
    caller_free(&caller);
}

static void connections_are_kept_for_the_next_call(void **state) {
    struct http_bench *bench = *state;
    struct caller caller;
    for (int i = 0; i < 5; i++) {
        http_bench_post_for(bench, &caller, OK_ANSWER);
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
    assert_int_equal(bench->peer.requests, 5);
    assert_int_equal(bench->peer.worker_count, 1);
}

/* The first connection serves one call and dies as the second arrives; later ones serve. */
static void die_on_reuse(struct peer *peer, int fd, int number) {
    while (peer_read(peer, fd)) {
        if (number == 1 && peer->requests > 1) {
            peer_reset_on_close(fd);
            return;
        }
        peer_write(fd, OK_ANSWER);
    }
}

/* A call may have been carried out, and paid for, before its connection was reset. */
static void a_request_that_was_written_is_not_sent_again(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, die_on_reuse);
    for (int i = 0; i < 3; i++) {
        struct caller caller;
        caller_init(&caller);
        http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
        assert_int_equal(caller.outcome.ending, i == 1 ? ENDING_FAILED : ENDING_OK);
        if (i == 1) {
            assert_int_equal(caller.outcome.kind, KIND_RESET);
            assert_true(caller.outcome.error_message.len > 0);
        }
        assert_int_equal(caller.outcome.connection, i == 2 ? 2 : 1);
        caller_free(&caller);
    }
    assert_int_equal(bench->peer.requests, 3);
}

/* Serves one call on its first connection and closes it while it is idle. */
static void close_when_idle(struct peer *peer, int fd, int number) {
    struct http_bench *bench = peer->arg;
    if (peer_read(peer, fd))
        peer_write(fd, OK_ANSWER);
    if (number > 1)
        return;
    shutdown(fd, SHUT_RDWR);
    sem_post(&bench->arrived);
}

static void a_connection_that_was_closed_while_idle_is_replaced(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, close_when_idle);
    for (int i = 0; i < 2; i++) {
        struct caller caller;
        caller_init(&caller);
        http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        assert_int_equal(caller.outcome.connection, i + 1);
        caller_free(&caller);
        if (i == 0)
            sem_wait(&bench->arrived);
    }
    assert_int_equal(bench->peer.requests, 2);
}

static void a_suspect_shares_its_connection_with_no_other_call(void **state) {
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    for (uint64_t i = 1; i <= 3; i++) {
        struct caller caller;
        caller_init(&caller);
        caller.call.own_connection = i == 2;
        assert_int_equal(caller_run(&caller, handler)->ending, ENDING_OK);
        assert_int_equal(caller.outcome.connection, i == 2 ? 2 : 1);
        caller_free(&caller);
    }
    handler->vtable->free(handler);
}

/* The first ones wait for one another, so that all are kept; each dies when it is used again. */
enum { KEPT = 8 };

static void die_on_reuse_all(struct peer *peer, int fd, int number) {
    struct http_bench *bench = peer->arg;
    if (!peer_read(peer, fd))
        return;
    if (number <= KEPT) {
        sem_post(&bench->arrived);
        sem_wait(&bench->go);
    }
    peer_write(fd, OK_ANSWER);
    if (peer_read(peer, fd))
        peer_reset_on_close(fd);
}

static void however_many_kept_connections_died_it_is_sent_once(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, die_on_reuse_all);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    struct caller callers[KEPT], last;
    for (int i = 0; i < KEPT; i++) {
        caller_init(&callers[i]);
        caller_start(&callers[i], handler);
    }
    for (int i = 0; i < KEPT; i++)
        sem_wait(&bench->arrived);
    for (int i = 0; i < KEPT; i++)
        sem_post(&bench->go);
    for (int i = 0; i < KEPT; i++) {
        assert_int_equal(caller_wait(&callers[i])->ending, ENDING_OK);
        caller_free(&callers[i]);
    }
    caller_init(&last);
    assert_int_equal(caller_run(&last, handler)->kind, KIND_RESET);
    assert_int_equal(bench->peer.requests, KEPT + 1);
    caller_free(&last);
    handler->vtable->free(handler);
}

/* The same in the middle of a body that is too large for the socket's buffers. */
static void die_on_large(struct peer *peer, int fd, int number) {
    char byte;
    while (peer_read(peer, fd)) {
        peer_write(fd, OK_ANSWER);
        if (number == 1 && recv(fd, &byte, 1, 0) == 1) {
            peer_reset_on_close(fd);
            return;
        }
    }
}

static void a_body_that_was_written_in_part_is_not_sent_again(void **state) {
    enum { LARGE = 8 * 1024 * 1024 };
    struct http_bench *bench = *state;
    http_bench_begin(bench, die_on_large);
    char *body = memory_new(LARGE);
    memset(body, 'x', LARGE);
    for (int i = 0; i < 2; i++) {
        struct caller caller;
        caller_init(&caller);
        if (i == 1)
            caller.call.body = (struct bytes){body, LARGE};
        http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
        assert_int_equal(caller.outcome.ending, i == 1 ? ENDING_FAILED : ENDING_OK);
        if (i == 1)
            assert_int_equal(caller.outcome.kind, KIND_RESET);
        assert_int_equal(caller.outcome.connection, 1);
        caller_free(&caller);
    }
    assert_int_equal(bench->peer.requests, 1);
    free(body);
}

/* At a port that is taken, so that nobody else can come to listen there. */
static void nobody_listening_is_refused(void **state) {
    struct http_bench *bench = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int deaf = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(deaf, (struct sockaddr *)&at, size), 0);
    assert_int_equal(getsockname(deaf, (struct sockaddr *)&at, &size), 0);
    snprintf(bench->peer.url, sizeof bench->peer.url, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    struct caller caller;
    caller_init(&caller);
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_REFUSED);
    caller_free(&caller);
    close(deaf);
}

/* A label of 64 letters is one too long: no server needs to be asked, near or far. */
static void a_name_that_does_not_resolve_is_dns(void **state) {
    struct http_bench *bench = *state;
    struct handler *handler =
        http_new(bench->pool,
                 &(struct http_options){.url = BYTES("http://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                                     "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.invalid/"),
                                        .timeout_ms = HTTP_BENCH_LONG_MS});
    struct caller caller;
    caller_init(&caller);
    caller_run(&caller, handler);
    handler->vtable->free(handler);
    assert_int_equal(caller.outcome.kind, KIND_DNS);
    caller_free(&caller);
}

static void hang(struct peer *peer, int fd, int number) {
    (void)number;
    struct http_bench *bench = peer->arg;
    peer_read(peer, fd);
    sem_post(&bench->arrived);
    peer_await_close(fd);
}

static void an_answer_that_does_not_come_is_a_timeout(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, hang);
    struct caller caller;
    caller_init(&caller);
    http_bench_post(bench, &caller, 100);
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    assert_bytes(caller.outcome.error_message, "no whole answer within 100ms");
    assert_true(caller.outcome.duration_ms >= 100);
    caller_free(&caller);
}

static void trickle(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nand then");
    peer_await_close(fd);
}

static void an_answer_that_does_not_end_is_a_timeout(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, trickle);
    struct caller caller;
    caller_init(&caller);
    http_bench_post(bench, &caller, 100);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    caller_free(&caller);
}

/* ---- our own lateness ---- */

static struct {
    struct clock clock;
    struct http_bench *bench;
    atomic_bool holds; /* its next reading waits until the peer has answered; then it is late */
    atomic_bool late;
} held;

static struct instant held_now(struct clock *clock) {
    (void)clock;
    enum { DAY_MS = 24 * 3600 * 1000 };
    if (atomic_exchange(&held.holds, false)) {
        sem_post(&held.bench->go);
        sem_wait(&held.bench->arrived);
        held.late = true;
    }
    struct instant now = clock_now(&caller_clock);
    now.mono.ms += held.late ? DAY_MS : 0;
    return now;
}

static void answer_when_told(struct peer *peer, int fd, int number) {
    (void)number;
    struct http_bench *bench = peer->arg;
    peer_read(peer, fd);
    sem_post(&bench->arrived);
    sem_wait(&bench->go);
    peer_write(fd, bench->answer);
    peer_await_delivery(fd);
    sem_post(&bench->arrived);
    peer_await_close(fd);
}

static void an_answer_that_came_before_we_saw_that_its_time_is_over_was_in_time(void **state) {
    static const struct {
        const char *answer;
        enum ending ending;
        enum kind kind;
    } cases[] = {
        {OK_ANSWER, ENDING_OK, KIND_STATUS},
        {"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf", ENDING_FAILED, KIND_TIMEOUT},
    };
    struct http_bench *bench = *state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        held.clock.now = held_now;
        held.bench = bench;
        held.late = false;
        http_pool_free(bench->pool);
        bench->pool = http_pool_new(&held.clock, BYTES("1.2.3"));
        bench->answer = cases[i].answer;
        http_bench_begin(bench, answer_when_told);
        struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
        struct caller caller;
        struct call nobody = {0};
        caller_init(&caller);
        caller_start(&caller, handler);
        sem_wait(&bench->arrived);
        held.holds = true;
        handler->vtable->cancel(handler, &nobody); /* wakes the pool */
        caller_wait(&caller);
        assert_true(held.late);
        assert_int_equal(caller.outcome.ending, cases[i].ending);
        assert_int_equal(caller.outcome.kind, cases[i].kind);
        handler->vtable->free(handler);
        caller_free(&caller);
        http_pool_free(bench->pool);
        bench->pool = NULL;
        peer_stop(&bench->peer);
        bench->peer.serve = NULL;
    }
}

static void a_cancelled_call_is_interrupted(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, hang);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    for (int arrived = 0; arrived < 2; arrived++) {
        struct caller caller;
        caller_init(&caller);
        caller_start(&caller, handler);
        if (arrived)
            sem_wait(&bench->arrived);
        handler->vtable->cancel(handler, &caller.call);
        handler->vtable->cancel(handler, &caller.call);
        assert_int_equal(caller_wait(&caller)->ending, ENDING_INTERRUPTED);
        handler->vtable->cancel(handler, &caller.call); /* too late: nothing */
        caller_free(&caller);
    }
    handler->vtable->free(handler);
}

static void hang_the_first(struct peer *peer, int fd, int number) {
    (number == 1 ? hang : http_bench_answer)(peer, fd, number);
}

static void a_call_that_hangs_holds_nobody_up(void **state) {
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, hang_the_first);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    struct caller slow;
    caller_init(&slow);
    caller_start(&slow, handler);
    sem_wait(&bench->arrived);
    struct caller quick;
    caller_init(&quick);
    assert_int_equal(caller_run(&quick, handler)->ending, ENDING_OK);
    handler->vtable->cancel(handler, &slow.call);
    assert_int_equal(caller_wait(&slow)->ending, ENDING_INTERRUPTED);
    handler->vtable->free(handler);
    caller_free(&quick);
    caller_free(&slow);
}

/* ---- many ---- */

enum { MANY = 2000 };

struct crowd {
    int fds[MANY];
    int count;
};

/* Answers nobody until all are there: they must truly be under way at once. */
static void answer_when_all_came(struct peer *peer, int fd, int number) {
    (void)number;
    struct crowd *crowd = peer->arg;
    crowd->fds[crowd->count++] = fd;
    if (crowd->count < MANY)
        return;
    for (int i = 0; i < MANY; i++) {
        peer_read(peer, crowd->fds[i]);
        peer_write(crowd->fds[i], OK_ANSWER);
    }
    for (int i = 0; i < MANY; i++)
        close(crowd->fds[i]);
}

static void two_thousand_calls_are_under_way_at_once(void **state) {
    struct http_bench *bench = *state;
    struct crowd *crowd = memory_new(sizeof *crowd);
    peer_start(&bench->peer, answer_when_all_came, crowd, false);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    struct caller *callers = memory_array(MANY, sizeof *callers);
    for (int i = 0; i < MANY; i++) {
        caller_init(&callers[i]);
        caller_start(&callers[i], handler);
    }
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(caller_wait(&callers[i])->ending, ENDING_OK);
        caller_free(&callers[i]);
    }
    handler->vtable->free(handler);
    free(callers);
    peer_stop(&bench->peer);
    bench->peer.serve = NULL;
    free(crowd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HTTP_TEST(no_answer_is_a_reset),
        HTTP_TEST(a_refusal_that_breaks_off_is_still_that_refusal),
        HTTP_TEST(connections_are_kept_for_the_next_call),
        HTTP_TEST(a_request_that_was_written_is_not_sent_again),
        HTTP_TEST(a_connection_that_was_closed_while_idle_is_replaced),
        HTTP_TEST(a_suspect_shares_its_connection_with_no_other_call),
        HTTP_TEST(however_many_kept_connections_died_it_is_sent_once),
        HTTP_TEST(a_body_that_was_written_in_part_is_not_sent_again),
        HTTP_TEST(nobody_listening_is_refused),
        HTTP_TEST(a_name_that_does_not_resolve_is_dns),
        HTTP_TEST(an_answer_that_does_not_come_is_a_timeout),
        HTTP_TEST(an_answer_that_does_not_end_is_a_timeout),
        HTTP_TEST(an_answer_that_came_before_we_saw_that_its_time_is_over_was_in_time),
        HTTP_TEST(a_cancelled_call_is_interrupted),
        HTTP_TEST(a_call_that_hangs_holds_nobody_up),
        HTTP_TEST(two_thousand_calls_are_under_way_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
