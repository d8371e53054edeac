/* What is sent, and what is made of the answer. */
#include "test.h"

#include <sys/socket.h>

#include "base/memory.h"
#include "http_bench.h"

/* ---- the request ---- */

static void the_body_is_posted_as_it_is_with_the_headers_of_the_contract(void **state) {
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
    struct caller caller;
    caller_init(&caller);
    caller.call.body = (struct bytes){"{\"n\": 1.0}\0\xff", 12};
    caller.call.attempt = 3;
    caller.call.replay = 1;
    caller.call.first_attempt_at = (struct wall){1500000000123};
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
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
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
    struct caller caller;
    caller_init(&caller);
    caller.call.fallback = 2;
    caller.call.body = BYTES_NONE;
    caller.call.content_type = BYTES_NONE;
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_true(peer_got(&bench->peer, "\r\nImpound-Fallback: 2\r\n"));
    assert_true(peer_got(&bench->peer, "\r\nContent-Length: 0\r\n"));
    assert_false(peer_got(&bench->peer, "Content-Type"));
    caller_free(&caller);
}

static void a_large_body_goes_without_asking_first(void **state) {
    enum { LARGE = 3 * 1024 * 1024 };
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
    char *body = memory_new(LARGE);
    memset(body, 'x', LARGE);
    struct caller caller;
    caller_init(&caller);
    caller.call.body = (struct bytes){body, LARGE};
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_false(peer_got(&bench->peer, "Expect"));
    caller_free(&caller);
    free(body);
}

static void a_message_s_headers_pass_and_the_configured_ones_win(void **state) {
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
    const struct rule_header own[] = {
        {BYTES("traceparent"), BYTES("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")},
        {BYTES("X-Api-Key"), BYTES("the-message's")},
        {BYTES("X-Empty"), BYTES("")},
    };
    const struct rule_header fixed[] = {{BYTES("x-api-key"), BYTES("the-configuration's")}};
    struct http_options options = {
        .url = bytes_of(bench->peer.url),
        .timeout_ms = HTTP_BENCH_LONG_MS,
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
    struct http_bench *bench = *state;
    bench->answer = OK_ANSWER;
    http_bench_begin(bench, http_bench_answer);
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
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
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
     -1, "", "HTTP 302 Found"},
    {"HTTP/1.1 599 Odd\r\nContent-Length: 0\r\n\r\n", ENDING_FAILED, 599, -1, "", "HTTP 599"},
    {"HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nslow", ENDING_FAILED, 429,
     7000, "", "slow"},
    {"HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n",
     ENDING_FAILED, 503, 0, "", "HTTP 503 Service Unavailable"},
    {"HTTP/1.1 503 No\r\nRetry-After: soon\r\nContent-Length: 0\r\n\r\n", ENDING_FAILED, 503, -1,
     "", "HTTP 503 Service Unavailable"},
    {"HTTP/1.1 503 No\r\nRetry-After: 99999999999999999\r\nContent-Length: 0\r\n\r\n",
     ENDING_FAILED, 503, INT64_MAX, "", "HTTP 503 Service Unavailable"},
    {"HTTP/1.1 422 No\r\nContent-Length: "
     "47\r\n\r\n{\"error\":{\"type\":\"Invalid\",\"message\":\"no "
     "sku\"}}",
     ENDING_FAILED, 422, -1, "Invalid", "no sku"},
    {"HTTP/1.1 429 Slow\r\nretry-after-ms: 1250\r\nRetry-After: 2\r\nContent-Length: 4\r\n\r\nslow",
     ENDING_FAILED, 429, 1250, "", "slow"},
    {"HTTP/1.1 429 Slow\r\nx-ms-retry-after-ms: 9\r\nContent-Length: 4\r\n\r\nslow", ENDING_FAILED,
     429, 9, "", "slow"},
    {"HTTP/1.1 429 Slow\r\nretry-after-ms: soon\r\nRetry-After: 2\r\nContent-Length: 0\r\n\r\n",
     ENDING_FAILED, 429, 2000, "", "HTTP 429 Too Many Requests"},
    {"HTTP/1.1 429 Slow\r\nContent-Length: 47\r\n\r\n"
     "{\"message\":\"m\",\"details\":[{\"retryDelay\":\"3s\"}]}",
     ENDING_FAILED, 429, -1, "", "m"}, /* not where its maker puts it */
    {"HTTP/1.1 429 Slow\r\nContent-Length: 57\r\n\r\n"
     "{\"error\":{\"message\":\"m\",\"details\":[{\"retryDelay\":\"3s\"}]}}",
     ENDING_FAILED, 429, 3000, "", "m"},
    {"HTTP/1.1 429 Slow\r\nx-amzn-ErrorType: ThrottlingException:http://x/\r\nContent-Length: "
     "15\r\n\r\n{\"message\":\"m\"}",
     ENDING_FAILED, 429, -1, "ThrottlingException", "m"},
};

static void a_status_is_judged_with_what_its_body_says(void **state) {
    struct http_bench *bench = *state;
    for (size_t i = 0; i < sizeof answer_cases / sizeof *answer_cases; i++) {
        const struct answer_case *expected = &answer_cases[i];
        struct caller caller;
        http_bench_post_for(bench, &caller, expected->answer);
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

/* ---- an answer that is wanted ---- */

static void an_answer_is_brought_with_its_type_where_it_is_wanted(void **state) {
    struct http_bench *bench = *state;
    bench->answer = "HTTP/1.1 200 OK\r\nContent-Type: application/json; charset=utf-8\r\n"
                    "Content-Length: 9\r\n\r\n{\"n\": 1}\n";
    http_bench_begin(bench, http_bench_answer);
    struct caller caller;
    caller_init(&caller);
    caller.call.wants_answer = true;
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_bytes(caller.outcome.answer, "{\"n\": 1}\n");
    assert_bytes(caller.outcome.answer_type, "application/json; charset=utf-8");
    caller_free(&caller);
    caller_init(&caller);
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_int_equal(caller.outcome.answer.len, 0);
    caller_free(&caller);
}

/* A hundred times what may be kept, had anybody read it all. */
static void endless(struct peer *peer, int fd, int number) {
    (void)number;
    static char piece[65536];
    peer_read(peer, fd);
    peer_write(fd, "HTTP/1.1 200 OK\r\nContent-Length: 419430400\r\n\r\n");
    while (send(fd, piece, sizeof piece, MSG_NOSIGNAL) > 0) {
    }
}

static void of_an_answer_beyond_the_limit_one_byte_more_than_it_is_read(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, endless);
    struct caller caller;
    caller_init(&caller);
    caller.call.wants_answer = true;
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    assert_int_equal(caller.outcome.answer.len, OUTCOME_ANSWER_MAX + 1);
    caller_free(&caller);
}

static void a_retry_after_date_is_measured_from_now(void **state) {
    struct http_bench *bench = *state;
    struct caller caller;
    http_bench_post_for(
        bench, &caller,
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
        http_bench_post_for(*state, &caller, cases[i].answer);
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
    struct http_bench *bench = *state;
    http_bench_begin(bench, send_without_end);
    struct caller caller;
    caller_init(&caller);
    http_bench_post(bench, &caller, HTTP_BENCH_LONG_MS);
    assert_int_equal(caller.outcome.kind, KIND_STATUS);
    assert_int_equal(caller.outcome.status, 500);
    assert_int_equal(caller.outcome.error_message.len, OUTCOME_MESSAGE_MAX);
    caller_free(&caller);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HTTP_TEST(the_body_is_posted_as_it_is_with_the_headers_of_the_contract),
        HTTP_TEST(a_fallback_call_says_which),
        HTTP_TEST(a_large_body_goes_without_asking_first),
        HTTP_TEST(a_message_s_headers_pass_and_the_configured_ones_win),
        HTTP_TEST(no_header_of_a_message_can_inject_frame_or_impersonate),
        HTTP_TEST(a_status_is_judged_with_what_its_body_says),
        HTTP_TEST(an_answer_is_brought_with_its_type_where_it_is_wanted),
        HTTP_TEST(of_an_answer_beyond_the_limit_one_byte_more_than_it_is_read),
        HTTP_TEST(a_retry_after_date_is_measured_from_now),
        HTTP_TEST(a_handler_may_say_the_verdict_itself),
        HTTP_TEST(an_endless_body_is_dropped_without_changing_the_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
