#include "test.h"

#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "caller.h"
#include "handler/http.h"
#include "peer.h"

enum { LONG_MS = 60 * 1000 };

struct bench {
    struct http_pool *pool;
    struct peer peer;
    const char *answer; /* what answer_all sends */
    sem_t arrived;      /* a request that hangs */
};

static int set_up(void **state) {
    struct bench *bench = memory_new(sizeof *bench);
    bench->pool = http_pool_new(&caller_clock, BYTES("1.2.3"));
    sem_init(&bench->arrived, 0, 0);
    *state = bench;
    return 0;
}

/* The pool goes first: the peer's threads end when their client closes. */
static int tear_down(void **state) {
    struct bench *bench = *state;
    http_pool_free(bench->pool);
    if (bench->peer.serve)
        peer_stop(&bench->peer);
    sem_destroy(&bench->arrived);
    free(bench);
    return 0;
}

static void begin(struct bench *bench, peer_serve *serve) {
    peer_start(&bench->peer, serve, bench, true);
}

static struct handler *poster(struct bench *bench, int64_t timeout_ms) {
    struct http_options options = {.url = bytes_of(bench->peer.url), .timeout_ms = timeout_ms};
    return http_new(bench->pool, &options);
}

/* One plain call; the outcome stays in the caller. */
static void post(struct bench *bench, struct caller *caller, int64_t timeout_ms) {
    struct handler *handler = poster(bench, timeout_ms);
    caller_run(caller, handler);
    handler->vtable->free(handler);
}

static void answer_all(struct peer *peer, int fd, int number) {
    (void)number;
    struct bench *bench = peer->arg;
    while (peer_read(peer, fd))
        peer_write(fd, bench->answer);
}

static void post_for(struct bench *bench, struct caller *caller, const char *answer) {
    bench->answer = answer;
    if (!bench->peer.serve)
        begin(bench, answer_all);
    caller_init(caller);
    post(bench, caller, LONG_MS);
}

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

/* ---- the request ---- */

static void the_body_is_posted_as_it_is_with_the_headers_of_the_contract(void **state) {
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, answer_all);
    struct caller caller;
    caller_init(&caller);
    caller.call.body = (struct bytes){"{\"n\": 1.0}\0\xff", 12};
    caller.call.attempt = 3;
    caller.call.replay = 1;
    caller.call.first_attempt_at = (struct wall){1500000000123};
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    const char *const lines[] = {
        "POST /price HTTP/1.1\r\n",
        "\r\nContent-Type: application/json\r\n",
        "\r\nContent-Length: 12\r\n",
        "\r\nImpound-Message-Id: m-1\r\n",
        "\r\nImpound-Queue: orders\r\n",
        "\r\nImpound-Attempt: 3\r\n",
        "\r\nImpound-Replay: 1\r\n",
        "\r\nImpound-First-Attempt-At: 2017-07-14T02:40:00.123Z\r\n",
        "\r\nUser-Agent: impound/1.2.3\r\n",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_true(peer_got(&bench->peer, lines[i]));
    assert_true(bytes_ends(buf_view(&bench->peer.last), (struct bytes){"{\"n\": 1.0}\0\xff", 12}));
    assert_false(peer_got(&bench->peer, "Impound-Fallback"));
    assert_false(peer_got(&bench->peer, "Impound-Key"));
    assert_false(peer_got(&bench->peer, "Expect"));
    caller_free(&caller);
}

static void a_fallback_call_says_which(void **state) {
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, answer_all);
    struct caller caller;
    caller_init(&caller);
    caller.call.fallback = 2;
    caller.call.body = BYTES_NONE;
    caller.call.content_type = BYTES_NONE;
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_true(peer_got(&bench->peer, "\r\nImpound-Fallback: 2\r\n"));
    assert_true(peer_got(&bench->peer, "\r\nContent-Length: 0\r\n"));
    assert_false(peer_got(&bench->peer, "Content-Type"));
    caller_free(&caller);
}

static void a_large_body_goes_without_asking_first(void **state) {
    enum { LARGE = 3 * 1024 * 1024 };
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, answer_all);
    char *body = memory_new(LARGE);
    memset(body, 'x', LARGE);
    struct caller caller;
    caller_init(&caller);
    caller.call.body = (struct bytes){body, LARGE};
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_false(peer_got(&bench->peer, "Expect"));
    caller_free(&caller);
    free(body);
}

static void a_message_s_headers_pass_and_the_configured_ones_win(void **state) {
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, answer_all);
    const struct rule_header own[] = {
        {BYTES("traceparent"), BYTES("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")},
        {BYTES("X-Api-Key"), BYTES("the-message's")},
        {BYTES("X-Empty"), BYTES("")},
    };
    const struct rule_header fixed[] = {{BYTES("x-api-key"), BYTES("the-configuration's")}};
    struct http_options options = {
        .url = bytes_of(bench->peer.url),
        .timeout_ms = LONG_MS,
        .headers = fixed,
        .header_count = 1,
    };
    struct handler *handler = http_new(bench->pool, &options);
    struct caller caller;
    caller_init(&caller);
    caller.call.headers = own;
    caller.call.header_count = 3;
    caller_run(&caller, handler);
    handler->vtable->free(handler);
    assert_true(peer_got(&bench->peer, "\r\ntraceparent: 00-0af7651916cd43dd8448eb211c80319c-"));
    assert_true(peer_got(&bench->peer, "\r\nx-api-key: the-configuration's\r\n"));
    assert_true(peer_got(&bench->peer, "\r\nX-Empty:\r\n"));
    assert_false(peer_got(&bench->peer, "the-message's"));
    caller_free(&caller);
}

static void no_header_of_a_message_can_inject_frame_or_impersonate(void **state) {
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, answer_all);
    const struct rule_header own[] = {
        {BYTES("A"), BYTES("x\r\nEvil: 1")},
        {BYTES("B"), BYTES("x\nEvil: 1")},
        {BYTES("C\r\nEvil"), BYTES("1")},
        {BYTES("D: x\r\nEvil"), BYTES("1")},
        {BYTES("Evil E"), BYTES("1")},
        {BYTES("Evil:F"), BYTES("1")},
        {BYTES("G"), BYTES("x\0Evil: 1")},
        {BYTES(""), BYTES("Evil")},
        {BYTES("Transfer-Encoding"), BYTES("Evil")},
        {BYTES("content-length"), BYTES("99999")},
        {BYTES("HOST"), BYTES("Evil")},
        {BYTES("connection"), BYTES("Evil")},
        {BYTES("Expect"), BYTES("Evil")},
        {BYTES("impound-message-id"), BYTES("Evil")},
        {BYTES("Impound-Attempt"), BYTES("Evil")},
        {BYTES("Content-Type"), BYTES("Evil")},
        {BYTES("Evil;"), BYTES("")},
        {BYTES("Good"), BYTES("still here")},
    };
    struct caller caller;
    caller_init(&caller);
    caller.call.headers = own;
    caller.call.header_count = sizeof own / sizeof *own;
    caller.call.id = BYTES("m\r\nEvil: 1");
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_false(peer_got(&bench->peer, "Evil"));
    assert_false(peer_got(&bench->peer, "99999"));
    assert_true(peer_got(&bench->peer, "\r\nGood: still here\r\n"));
    caller_free(&caller);
}

/* ---- the answer ---- */

struct answer_case {
    const char *answer;
    enum ending ending;
    int status;
    int64_t retry_after_ms;
    const char *type, *message;
};

static const struct answer_case answer_cases[] = {
    {OK_ANSWER, ENDING_OK, 200, -1, "", ""},
    {"HTTP/1.1 204 No Content\r\n\r\n", ENDING_OK, 204, -1, "", ""},
    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", ENDING_OK, 200,
     -1, "", ""},
    {"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", ENDING_FAILED, 302,
     -1, "", "HTTP status 302"},
    {"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nslow", ENDING_FAILED, 429,
     7000, "", "slow"},
    {"HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
     ENDING_FAILED, 503, 0, "", "HTTP status 503"},
    {"HTTP/1.1 503 No\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", ENDING_FAILED, 503, -1,
     "", "HTTP status 503"},
    {"HTTP/1.1 503 No\r\nRetry-After: 99999999999999999\r\nContent-Length: 0\r\n\r\n",
     ENDING_FAILED, 503, INT64_MAX, "", "HTTP status 503"},
    {"HTTP/1.1 422 No\r\nContent-Length: "
     "47\r\n\r\n{\"error\":{\"type\":\"Invalid\",\"message\":\"no "
     "sku\"}}",
     ENDING_FAILED, 422, -1, "Invalid", "no sku"},
};

static void a_status_is_judged_with_what_its_body_says(void **state) {
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof answer_cases / sizeof *answer_cases; i++) {
        const struct answer_case *expected = &answer_cases[i];
        struct caller caller;
        post_for(bench, &caller, expected->answer);
        assert_int_equal(caller.outcome.ending, expected->ending);
        assert_int_equal(caller.outcome.kind, KIND_STATUS);
        assert_int_equal(caller.outcome.status, expected->status);
        assert_int_equal(caller.outcome.retry_after_ms, expected->retry_after_ms);
        assert_bytes(caller.outcome.error_type, expected->type);
        assert_bytes(caller.outcome.error_message, expected->message);
        assert_false(caller.outcome.has_verdict);
        caller_free(&caller);
    }
}

static void a_retry_after_date_is_measured_from_now(void **state) {
    struct bench *bench = *state;
    struct caller caller;
    post_for(bench, &caller,
             "HTTP/1.1 503 No\r\nRetry-After: Fri, 31 Dec 2100 00:00:00 GMT\r\nContent-Length: "
             "0\r\n\r\n");
    struct wall at;
    assert_true(wall_parse(BYTES("2100-12-31T00:00:00Z"), &at));
    int64_t left_ms = at.ms - clock_now(&caller_clock).wall.ms;
    assert_true(caller.outcome.retry_after_ms >= left_ms);
    assert_true(caller.outcome.retry_after_ms < at.ms);
    caller_free(&caller);
}

#define VERDICT_ANSWER(status, word)                                                               \
    "HTTP/1.1 " status "\r\nImpound-Verdict: " word                                                \
    "\r\nImpound-Reason: tired\r\nContent-Length: 0\r\n\r\n"

static void a_handler_may_say_the_verdict_itself(void **state) {
    static const struct {
        const char *answer;
        bool has;
        enum verdict verdict;
        enum ending ending;
    } cases[] = {
        {VERDICT_ANSWER("500 No", "retry"), true, VERDICT_RETRY, ENDING_FAILED},
        {VERDICT_ANSWER("503 No", "dlq"), true, VERDICT_DLQ, ENDING_FAILED},
        {VERDICT_ANSWER("200 OK", "discard"), true, VERDICT_DISCARD, ENDING_FAILED},
        {VERDICT_ANSWER("400 No", "halt"), true, VERDICT_HALT, ENDING_FAILED},
        {VERDICT_ANSWER("500 No", "fallback"), false, 0, ENDING_FAILED},
        {VERDICT_ANSWER("500 No", "explode"), false, 0, ENDING_FAILED},
        {VERDICT_ANSWER("200 OK", "explode"), false, 0, ENDING_OK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct caller caller;
        post_for(*state, &caller, cases[i].answer);
        assert_int_equal(caller.outcome.ending, cases[i].ending);
        assert_int_equal(caller.outcome.has_verdict, cases[i].has);
        if (cases[i].has) {
            assert_int_equal(caller.outcome.verdict, cases[i].verdict);
            assert_bytes(caller.outcome.reason, "tired");
        }
        caller_free(&caller);
    }
}

static void send_without_end(struct peer *peer, int fd, int number) {
    (void)number;
    char chunk[65537];
    memset(chunk, 'x', sizeof chunk - 1);
    chunk[sizeof chunk - 1] = '\0';
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 500 No\r\n\r\n");
    for (int i = 0; i < 1000; i++) /* peer_write gives up when the client closed */
        peer_write(fd, chunk);
}

static void an_endless_body_is_dropped_without_changing_the_outcome(void **state) {
    struct bench *bench = *state;
    begin(bench, send_without_end);
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_STATUS);
    assert_int_equal(caller.outcome.status, 500);
    assert_int_equal(caller.outcome.error_message.len, OUTCOME_MESSAGE_MAX);
    caller_free(&caller);
}

/* ---- connections ---- */

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
    struct bench *bench = *state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin(bench, ways[i]);
        struct caller caller;
        caller_init(&caller);
        post(bench, &caller, LONG_MS);
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
    struct bench *bench = *state;
    begin(bench, break_off_a_refusal);
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_STATUS);
    assert_int_equal(caller.outcome.status, 503);
    assert_int_equal(caller.outcome.retry_after_ms, 2000);
    assert_bytes(caller.outcome.error_message, "half");
    caller_free(&caller);
}

static void connections_are_kept_for_the_next_call(void **state) {
    struct bench *bench = *state;
    struct caller caller;
    for (int i = 0; i < 5; i++) {
        post_for(bench, &caller, OK_ANSWER);
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

static void a_kept_connection_that_died_is_not_held_against_the_message(void **state) {
    struct bench *bench = *state;
    begin(bench, die_on_reuse);
    for (int i = 0; i < 3; i++) {
        struct caller caller;
        caller_init(&caller);
        post(bench, &caller, LONG_MS);
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
    assert_int_equal(bench->peer.worker_count, 2);
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

static void a_kept_connection_that_dies_while_we_send_is_not_held_against_it_either(void **state) {
    enum { LARGE = 8 * 1024 * 1024 };
    struct bench *bench = *state;
    begin(bench, die_on_large);
    char *body = memory_new(LARGE);
    memset(body, 'x', LARGE);
    for (int i = 0; i < 2; i++) {
        struct caller caller;
        caller_init(&caller);
        if (i == 1)
            caller.call.body = (struct bytes){body, LARGE};
        post(bench, &caller, LONG_MS);
        assert_int_equal(caller.outcome.ending, ENDING_OK);
        caller_free(&caller);
    }
    free(body);
}

static void nobody_listening_is_refused(void **state) {
    struct bench *bench = *state;
    begin(bench, answer_all);
    peer_stop(&bench->peer);
    bench->peer.serve = NULL;
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_REFUSED);
    caller_free(&caller);
}

static void a_name_that_does_not_resolve_is_dns(void **state) {
    struct bench *bench = *state;
    strcpy(bench->peer.url, "http://no-such-host.invalid/");
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_DNS);
    caller_free(&caller);
}

static void hang(struct peer *peer, int fd, int number) {
    (void)number;
    struct bench *bench = peer->arg;
    peer_read(peer, fd);
    sem_post(&bench->arrived);
    peer_await_close(fd);
}

static void an_answer_that_does_not_come_is_a_timeout(void **state) {
    struct bench *bench = *state;
    begin(bench, hang);
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, 100);
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    assert_true(caller.outcome.duration_ms >= 99);
    caller_free(&caller);
}

static void trickle(struct peer *peer, int fd, int number) {
    (void)number;
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nand then");
    peer_await_close(fd);
}

static void an_answer_that_does_not_end_is_a_timeout(void **state) {
    struct bench *bench = *state;
    begin(bench, trickle);
    struct caller caller;
    caller_init(&caller);
    post(bench, &caller, 100);
    assert_int_equal(caller.outcome.kind, KIND_TIMEOUT);
    caller_free(&caller);
}

static void a_cancelled_call_is_interrupted(void **state) {
    struct bench *bench = *state;
    begin(bench, hang);
    struct handler *handler = poster(bench, LONG_MS);
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
    (number == 1 ? hang : answer_all)(peer, fd, number);
}

static void a_call_that_hangs_holds_nobody_up(void **state) {
    struct bench *bench = *state;
    bench->answer = OK_ANSWER;
    begin(bench, hang_the_first);
    struct handler *handler = poster(bench, LONG_MS);
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
    struct bench *bench = *state;
    struct crowd *crowd = memory_new(sizeof *crowd);
    peer_start(&bench->peer, answer_when_all_came, crowd, false);
    struct handler *handler = poster(bench, LONG_MS);
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

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BENCH(the_body_is_posted_as_it_is_with_the_headers_of_the_contract),
        WITH_BENCH(a_fallback_call_says_which),
        WITH_BENCH(a_large_body_goes_without_asking_first),
        WITH_BENCH(a_message_s_headers_pass_and_the_configured_ones_win),
        WITH_BENCH(no_header_of_a_message_can_inject_frame_or_impersonate),
        WITH_BENCH(a_status_is_judged_with_what_its_body_says),
        WITH_BENCH(a_retry_after_date_is_measured_from_now),
        WITH_BENCH(a_handler_may_say_the_verdict_itself),
        WITH_BENCH(an_endless_body_is_dropped_without_changing_the_outcome),
        WITH_BENCH(no_answer_is_a_reset),
        WITH_BENCH(a_refusal_that_breaks_off_is_still_that_refusal),
        WITH_BENCH(connections_are_kept_for_the_next_call),
        WITH_BENCH(a_kept_connection_that_died_is_not_held_against_the_message),
        WITH_BENCH(a_kept_connection_that_dies_while_we_send_is_not_held_against_it_either),
        WITH_BENCH(nobody_listening_is_refused),
        WITH_BENCH(a_name_that_does_not_resolve_is_dns),
        WITH_BENCH(an_answer_that_does_not_come_is_a_timeout),
        WITH_BENCH(an_answer_that_does_not_end_is_a_timeout),
        WITH_BENCH(a_cancelled_call_is_interrupted),
        WITH_BENCH(a_call_that_hangs_holds_nobody_up),
        WITH_BENCH(two_thousand_calls_are_under_way_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
