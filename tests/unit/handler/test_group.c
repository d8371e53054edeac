/* Several messages in one request, and what is made of the answer. */
#include "test.h"

#include <stdio.h>

#include "handler/http/http_answer.h"
#include "http_bench.h"

static void post(struct http_bench *bench, struct group_caller *caller, const char *status,
                 const char *body) {
    static char answer[8192];
    snprintf(answer, sizeof answer, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status,
             strlen(body), body);
    bench->answer = answer;
    http_bench_begin(bench, http_bench_answer);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    group_caller_init(caller, 3);
    caller->calls[1].attempt = 4;
    group_caller_run(caller, handler);
    handler->vtable->free(handler);
}

static void an_array_of_the_exact_bodies_is_posted(void **state) {
    struct http_bench *bench = *state;
    struct group_caller caller;
    post(bench, &caller, "200 OK", "");
    assert_int_equal(caller.whole.ending, ENDING_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(caller.items[i].ending, ENDING_OK);
    const char *const parts[] = {
        "\r\nContent-Type: application/json\r\n",
        "\r\nImpound-Queue: orders\r\n",
        "\r\nImpound-Batch: 3\r\n",
        "\r\nImpound-Attempt: 4\r\n",
        "\r\n\r\n[{\"id\":\"m-1\",\"queue\":\"orders\",\"key\":null,\"attempt\":1,\"replay\":0,"
        "\"headers\":{},\"content_type\":\"application/json\",\"body\":{\"n\": 1.0}},{\"id\":"
        "\"m-2\",",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_true(peer_got(&bench->peer, parts[i]));
    assert_false(peer_got(&bench->peer, "Impound-Message-Id"));
    group_caller_free(&caller);
}

static void a_listed_item_fails_with_its_own_words(void **state) {
    struct group_caller caller;
    post(*state, &caller, "200 OK",
         "{\"batchItemFailures\":[{\"itemIdentifier\":\"m-2\",\"error_type\":\"KeyError\","
         "\"error_message\":\"no price\",\"status\":422,\"verdict\":\"dlq\",\"reason\":\"odd\"},"
         "{\"itemIdentifier\":\"m-3\"}]}");
    assert_int_equal(caller.whole.ending, ENDING_OK);
    assert_int_equal(caller.items[0].ending, ENDING_OK);
    const struct outcome *said = &caller.items[1];
    assert_int_equal(said->ending, ENDING_FAILED);
    assert_int_equal(said->kind, KIND_REPORTED);
    assert_int_equal(said->status, 422);
    assert_bytes(said->error_type, "KeyError");
    assert_bytes(said->error_message, "no price");
    assert_true(said->has_verdict && said->verdict == VERDICT_DLQ);
    assert_bytes(said->reason, "odd");
    assert_bytes(caller.items[2].error_type, "batch_item");
    group_caller_free(&caller);
}

static void an_answer_that_lists_nothing_is_a_success(void **state) {
    struct http_bench *bench = *state;
    struct group_caller caller;
    post(bench, &caller, "200 OK", "{\"batchItemFailures\":[]}");
    assert_int_equal(caller.whole.ending, ENDING_OK);
    assert_int_equal(caller.items[2].ending, ENDING_OK);
    group_caller_free(&caller);
}

static void a_list_that_cannot_be_trusted_fails_the_whole(void **state) {
    struct group_caller caller;
    post(*state, &caller, "200 OK",
         "{\"batchItemFailures\":[{\"itemIdentifier\":\"m-1\"},{\"itemIdentifier\":\"\"}]}");
    assert_int_equal(caller.whole.ending, ENDING_FAILED);
    assert_bytes(caller.whole.error_type, "batch_item");
    group_caller_free(&caller);
}

static void a_refusal_is_of_the_whole(void **state) {
    struct group_caller caller;
    post(*state, &caller, "422 Unprocessable", "{\"error\":{\"type\":\"bad\",\"message\":\"no\"}}");
    assert_int_equal(caller.whole.ending, ENDING_FAILED);
    assert_int_equal(caller.whole.status, 422);
    assert_bytes(caller.whole.error_type, "bad");
    group_caller_free(&caller);
}

/* What stands behind the limit may be a failure: none of it is taken for a success. */
static void an_answer_longer_than_is_read_fails_the_whole(void **state) {
    struct http_bench *bench = *state;
    enum { LONG = HTTP_ANSWER_BATCH_MAX + 1, HEAD = 128 };
    static char answer[HEAD + LONG + 1]; /* the peer may be writing it still */
    int head = snprintf(answer, HEAD, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", LONG);
    memset(answer + head, ' ', LONG);
    bench->answer = answer;
    http_bench_begin(bench, http_bench_answer);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    struct group_caller caller;
    group_caller_init(&caller, 2);
    group_caller_run(&caller, handler);
    assert_int_equal(caller.whole.ending, ENDING_FAILED);
    group_caller_free(&caller);
    handler->vtable->free(handler);
}

static void wait_to_answer(struct peer *peer, int fd, int number) {
    (void)number;
    struct http_bench *bench = peer->arg;
    peer_read(peer, fd);
    sem_post(&bench->arrived);
    peer_await_close(fd);
}

static void a_cancelled_group_is_interrupted(void **state) {
    struct http_bench *bench = *state;
    http_bench_begin(bench, wait_to_answer);
    struct handler *handler = http_bench_handler(bench, HTTP_BENCH_LONG_MS);
    struct group_caller caller;
    group_caller_init(&caller, 2);
    handler->vtable->start_group(handler, &caller.group);
    while (sem_wait(&bench->arrived) != 0) {
    }
    handler->vtable->cancel_group(handler, &caller.group);
    group_caller_wait(&caller);
    assert_int_equal(caller.whole.ending, ENDING_INTERRUPTED);
    group_caller_free(&caller);
    handler->vtable->free(handler);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        HTTP_TEST(an_array_of_the_exact_bodies_is_posted),
        HTTP_TEST(a_listed_item_fails_with_its_own_words),
        HTTP_TEST(an_answer_that_lists_nothing_is_a_success),
        HTTP_TEST(a_list_that_cannot_be_trusted_fails_the_whole),
        HTTP_TEST(a_refusal_is_of_the_whole),
        HTTP_TEST(an_answer_longer_than_is_read_fails_the_whole),
        HTTP_TEST(a_cancelled_group_is_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
