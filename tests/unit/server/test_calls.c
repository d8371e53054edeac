/* Every call of the API, over a real socket. */
#include "test.h"

#include <stdio.h>
#include <unistd.h>

#include "base/json/json.h"
#include "client.h"
#include "store/fake_store.h"

static struct client_world world;

#define MESSAGES "/v1/queues/orders/messages"

static uint64_t queued(void) {
    struct store_queue_counts counts;
    uint32_t number = world.store->vtable->queue_number(world.store, BYTES("orders"));
    world.store->vtable->counts(world.store, number, &counts);
    return counts.queued;
}

static char *push_lines(const char *lines) {
    return client_ask(&world, "POST", MESSAGES, "application/x-ndjson", lines);
}

static void a_push_is_held_byte_for_byte(void **state) {
    (void)state;
    client_expect(client_post(&world, MESSAGES, "{\"body\":{\"n\":1.0,\"n\":2},\"id\":\"o/1\"}"),
                  200, "{\"ids\":[\"o/1\"],\"duplicates\":[]}");
    client_expect(client_get(&world, "/v1/messages/o%2F1"), 200, "\"body\":{\"n\":1.0,\"n\":2}");
    client_expect(client_get(&world, "/v1/messages/o%2F1?queue=orders"), 200,
                  "\"state\":\"queued\"");
    client_expect(client_get(&world, "/v1/letters/o%2F1"), 404, "is not dead");
    client_expect(client_get(&world, "/v1/letters/o%2F1/explain"), 200,
                  "{\"id\":\"o/1\",\"known\":true,\"stopped\":\"\"}");
}

static void an_explanation_knows_that_the_queue_is_paused(void **state) {
    (void)state;
    client_expect(client_post(&world, MESSAGES, "{\"body\":1,\"id\":\"m\"}"), 200, "\"m\"");
    client_expect(client_post(&world, "/v1/queues/orders/pause", "{}"), 200, "paused");
    client_expect(client_get(&world, "/v1/letters/m/explain"), 200, "\"stopped\":\"paused\"");
}

static void ids_come_back_in_the_order_of_the_lines(void **state) {
    (void)state;
    client_expect(
        push_lines(
            "{\"body\":1,\"id\":\"a\"}\n{\"body\":2,\"id\":\"b\"}\n\n{\"body\":3,\"id\":\"c\"}"),
        200, "{\"ids\":[\"a\",\"b\",\"c\"],\"duplicates\":[]}");
    assert_int_equal(queued(), 3);
}

static void what_is_held_already_is_a_duplicate(void **state) {
    (void)state;
    client_expect(push_lines("{\"body\":1,\"id\":\"a\"}"), 200, "\"duplicates\":[]");
    client_expect(
        push_lines(
            "{\"body\":2,\"id\":\"b\"}\n{\"body\":1,\"id\":\"a\"}\n{\"body\":2,\"id\":\"b\"}"),
        200, "{\"ids\":[\"b\",\"a\",\"b\"],\"duplicates\":[\"a\",\"b\"]}");
    assert_int_equal(queued(), 2);
}

static void another_body_is_a_conflict_that_names_its_line(void **state) {
    (void)state;
    client_expect(push_lines("{\"body\":1,\"id\":\"a\"}"), 200, "\"ids\":[\"a\"]");
    client_expect(push_lines("{\"body\":5}\n\n{\"body\":2,\"id\":\"a\"}"), 409,
                  "line 3: the id \\\"a\\\"");
    client_expect(client_post(&world, MESSAGES, "{\"body\":2,\"id\":\"a\"}"), 409,
                  "the id \\\"a\\\" is held with another body");
    assert_int_equal(queued(), 1);
}

static void one_bad_line_of_a_hundred_refuses_all(void **state) {
    (void)state;
    struct buf lines;
    buf_init_heap(&lines, CLIENT_MAX_BODY);
    for (int i = 1; i <= 100; i++)
        buf_str(&lines, i == 57 ? "{\"body\":\n" : "{\"body\":1}\n");
    char *answer = push_lines(buf_cstr(&lines));
    assert_non_null(strstr(answer, "\"line\":57"));
    client_expect(answer, 400, "line 57: ");
    assert_int_equal(queued(), 0);
    buf_free(&lines);
}

static void a_push_that_is_refused_says_why(void **state) {
    (void)state;
    client_expect(client_post(&world, "/v1/queues/oders/messages", "{\"body\":1}"), 404,
                  "there is no queue \\\"oders\\\"; did you mean \\\"orders\\\"?");
    client_expect(client_post(&world, "/v1/queues/zzzzzzzz/messages", "{\"body\":1}"), 404,
                  "GET /v1/queues lists them");
    client_expect(client_post(&world, MESSAGES, "nonsense"), 400, "not JSON");
    client_expect(client_post(&world, MESSAGES, ""), 400, "not JSON");
    client_expect(client_post(&world, MESSAGES, "{\"body\":1,\"kee\":1}"), 400,
                  "did you mean \\\"key\\\"?");
    client_expect(client_ask(&world, "POST", MESSAGES, "text/xml", "<a/>"), 415,
                  "application/x-ndjson");
    client_expect(
        client_ask(&world, "POST", MESSAGES, "application/json; charset=utf-8", "{\"body\":1}"),
        200, "ids");
    assert_int_equal(queued(), 1);
}

static void a_problem_is_a_problem_document(void **state) {
    (void)state;
    char *answer = client_get(&world, "/v1/queues/nope");
    assert_non_null(strstr(answer, "Content-Type: application/problem+json"));
    struct json problem, value;
    struct err err;
    assert_int_equal(json_parse(bytes_of(strstr(answer, "\r\n\r\n") + 4), &problem, &err),
                     STATUS_OK);
    assert_true(json_get(problem, "type", &value));
    assert_bytes(value.text, "\"urn:impound:problem:not_found\"");
    assert_true(json_get(problem, "title", &value));
    assert_true(json_get(problem, "status", &value));
    assert_bytes(value.text, "404");
    assert_true(json_get(problem, "instance", &value));
    assert_bytes(value.text, "\"/v1/queues/nope\"");
    free(answer);
}

static void on_kept(struct store_commit *commit, enum status status) {
    (void)commit;
    assert_int_equal(status, STATUS_OK);
}

static void keep_result(const char *queue, const char *id, const char *json) {
    struct store_op op = {
        .kind = STORE_KEEP,
        .queue = world.store->vtable->queue_number(world.store, bytes_of(queue)),
        .keep = {.space = SPACE_RESULT, .name = bytes_of(id), .value = bytes_of(json)}};
    struct store_commit commit = {.ops = &op, .count = 1, .done = on_kept};
    world.store->vtable->submit(world.store, &commit);
}

static void an_answer_is_given_while_it_is_kept(void **state) {
    (void)state;
    client_expect(client_get(&world, "/v1/results/r%2F1"), 404,
                  "no answer is kept for \\\"r/1\\\"");
    keep_result("orders", "r/1", "{\"id\":\"r/1\",\"body\":1.0}");
    client_expect(client_get(&world, "/v1/results/r%2F1"), 200, "{\"id\":\"r/1\",\"body\":1.0}");
    keep_result("payments", "r/1", "{\"id\":\"r/1\",\"body\":2}");
    client_expect(client_get(&world, "/v1/results/r%2F1"), 409, "?queue=");
    client_expect(client_get(&world, "/v1/results/r%2F1?queue=payments"), 200, "\"body\":2}");
    client_expect(client_get(&world, "/v1/results/r%2F1?queue=order"), 404, "orders");
}

static void what_the_store_does_not_take_is_not_acknowledged(void **state) {
    (void)state;
    client_expect(client_get(&world, "/readyz"), 200, "\"halted\":[]");
    fake_store_fail(world.store, STATUS_FULL, 2);
    client_expect(client_post(&world, MESSAGES, "{\"body\":1}"), 503, "nothing was stored");
    assert_int_equal(queued(), 0);
    client_expect(client_get(&world, "/readyz"), 503, "the store cannot commit");
    client_expect(client_post(&world, MESSAGES, "{\"body\":1}"), 200, "ids");
    client_expect(client_get(&world, "/readyz"), 200, "ready");
}

static void metrics_do_not_call_a_store_unwritable_that_nobody_tried(void **state) {
    (void)state;
    fake_store_fail(world.store, STATUS_FULL, 2);
    client_expect(client_post(&world, MESSAGES, "{\"body\":1}"), 503, "nothing was stored");
    client_expect(client_get(&world, "/metrics"), 200, "\nimpound_store_writable 0\n");
    client_expect(client_get(&world, "/metrics"), 200, "\nimpound_store_writable 1\n");
}

static void a_store_that_nobody_writes_to_is_found_ready_again(void **state) {
    (void)state;
    fake_store_fail(world.store, STATUS_FULL, 2);
    client_expect(client_post(&world, MESSAGES, "{\"body\":1}"), 503, "nothing was stored");
    client_expect(client_get(&world, "/readyz"), 503, "the store cannot commit");
    client_expect(client_get(&world, "/readyz"), 200, "\"halted\":[]");
    struct arena arena;
    struct letters_note kept;
    size_t count;
    struct err err;
    arena_init_heap(&arena, 4096);
    assert_int_equal(letters_notes(world.store->letters, SPACE_ARRIVALS, BYTES_NONE, BYTES_NONE,
                                   false, 1, &arena, &kept, &count, &err),
                     STATUS_OK);
    assert_int_equal(count, 0); /* what it tried with is gone */
    arena_free(&arena);
}

static void a_report_is_judged(void **state) {
    (void)state;
    client_expect(client_post(&world, "/v1/queues/orders/failures", "{\"task_id\":\"t1\"}"), 200,
                  "{\"id\":\"t1\",\"state\":\"pending_review\",\"verdict\":\"dlq\",\"reason\":"
                  "\"unclassified\",\"letter\":\"letter-1\"}");
    client_expect(client_post(&world, "/v1/queues/orders/failures",
                              "{\"task_id\":\"t1\",\"verdict\":\"retry\"}"),
                  200, "\"next_attempt_at\":\"2023-11-14T22:13:21.000Z\"}");
    client_expect(
        client_post(&world, "/v1/queues/orders/failures",
                    "{\"task_id\":\"t1\",\"attempt_count\":2,\"max_retries\":3}"),
        200,
        "\"letter\":\"letter-1\",\"attempt_count\":2,\"max_retries\":3,\"last_attempted_at\":");
    client_expect(client_post(&world, "/v1/queues/orders/failures", "{\"taskid\":\"t1\"}"), 400,
                  "did you mean \\\"task_id\\\"?");
    client_expect(client_post(&world, "/v1/queues/orders/failures", "[]"), 400, "not an array");
    client_expect(client_post(&world, "/v1/queues/oders/failures", "{\"task_id\":\"t1\"}"), 404,
                  "did you mean \\\"orders\\\"?");
    world.engine.refuse = STATUS_BUSY;
    client_expect(client_post(&world, "/v1/queues/orders/failures", "{\"task_id\":\"t1\"}"), 503,
                  "the report was not taken");
}

static void queues_are_shown_paused_and_resumed(void **state) {
    (void)state;
    client_expect(client_get(&world, "/v1/queues"), 200, "\"queue\":\"payments\"");
    client_expect(client_get(&world, "/v1/queues"), 200, "],\"adoptions\":[],\"cursor\":null}");
    client_expect(
        client_get(&world, "/v1/queues/orders"), 200,
        "{\"queue\":\"orders\",\"state\":\"running\",\"why\":null,\"depth\":0,\"in_flight\":0,"
        "\"pending_retry\":0");
    client_expect(
        client_get(&world, "/v1/queues/orders"), 200,
        "\"breaker\":{\"state\":\"closed\",\"until\":null},\"budget\":{\"remaining_ratio\":0");
    client_expect(client_post(&world, "/v1/queues/orders/pause", "{\"why\":\"deploy\"}"), 200,
                  "\"state\":\"paused\",\"why\":\"deploy\"");
    client_expect(client_ask(&world, "POST", "/v1/queues/orders/resume", NULL, NULL), 200,
                  "\"state\":\"running\",\"why\":null");
    client_expect(client_post(&world, "/v1/queues/orders/pause", "{\"wy\":\"\"}"), 400,
                  "did you mean \\\"why\\\"?");
    client_expect(client_post(&world, "/v1/queues/oders/pause", ""), 404, "orders");
}

static void depth_counts_what_is_held_and_not_dead(void **state) {
    (void)state;
    world.engine.queues[0].counts =
        (struct store_queue_counts){.queued = 5, .delayed = 2, .pending_retry = 3, .taken = 4};
    world.engine.queues[0].in_flight = 4;
    client_expect(client_get(&world, "/v1/queues/orders"), 200,
                  "\"depth\":12,\"in_flight\":4,\"pending_retry\":3");
}

static void a_halted_queue_is_listed_while_ready(void **state) {
    (void)state;
    world.engine.queues[1].state = QUEUE_HALTED;
    snprintf(world.engine.queues[1].why, 256, "401 from the handler");
    client_expect(client_get(&world, "/readyz"), 200,
                  "\"halted\":[{\"queue\":\"payments\",\"why\":\"401 from the handler\"}]");
    client_expect(client_get(&world, "/healthz"), 200, "\"status\":\"ok\"");
}

static void a_configured_dlq_is_there_while_empty(void **state) {
    (void)state;
    client_expect(client_get(&world, "/v1/dlqs"), 200, "{\"dlqs\":[{\"dlq\":\"orders.dlq\"");
    char *answer = client_get(&world, "/v1/dlqs");
    assert_null(strstr(strstr(answer, "orders.dlq") + 1, "orders.dlq"));
    free(answer);
    client_expect(client_get(&world, "/v1/dlqs/orders.dlq"), 200,
                  "{\"dlq\":\"orders.dlq\",\"depth\":0,\"cap\":100,\"spilled\":0");
    client_expect(
        client_get(&world, "/v1/dlqs/orders.dlq"), 200,
        "\"owner\":\"team-orders\",\"auto_fixed_percent\":null,\"escalated_percent\":null,"
        "\"triage\":[],\"adoptions\":[]}");
    client_expect(client_get(&world, "/v1/dlqs/order.dlq"), 404,
                  "did you mean \\\"orders.dlq\\\"?");
}

static void lists_pass_their_filters_on(void **state) {
    (void)state;
    client_expect(client_get(&world, "/v1/letters?reason=rate+limit%3Ax"), 200,
                  "{\"letters\":[],\"dlq\":\"\",\"reason\":\"rate limit:x\",\"cursor\":null}");
    client_expect(client_get(&world, "/v1/dlqs/orders.dlq/letters?dlq=other"), 200,
                  "\"dlq\":\"orders.dlq\"");
    client_expect(client_get(&world, "/v1/dlqs/nope/letters"), 404, "there is no dlq");
    client_expect(client_get(&world, "/v1/messages?reason=x"), 200, "{\"messages\":[]");
    client_expect(client_get(&world, "/v1/letters?colour=red"), 400, "unknown filter");
    client_expect(client_get(&world, "/v1/letters?reason=%zz"), 400, "percent-encoding");
}

static void what_is_not_held_is_not_found(void **state) {
    (void)state;
    client_expect(client_get(&world, "/v1/messages/nope"), 404, "holds no message \\\"nope\\\"");
    client_expect(client_get(&world, "/v1/letters/nope"), 404, "holds no letter \\\"nope\\\"");
    client_expect(client_get(&world, "/v1/letters/nope/explain"), 404, "nope");
    client_expect(client_get(&world, "/v1/nope"), 404, "/openapi.json");
}

static void stats_add_up(void **state) {
    (void)state;
    world.engine.queues[0].counts.queued = 2;
    world.engine.queues[1].counts.queued = 3;
    world.engine.queues[1].results[RESULT_OK] = 7;
    client_expect(client_get(&world, "/v1/stats?window=5m"), 200, "\"totals\":{\"depth\":5");
    client_expect(client_get(&world, "/v1/stats?window=5m"), 200, "{\"in_per_minute\":5,");
    client_expect(client_get(&world, "/v1/stats"), 200, "\"attempts\":{\"ok\":7");
    client_expect(client_get(&world, "/v1/stats?window=5m"), 200, "\"in_per_minute\":5");
    client_expect(client_get(&world, "/v1/stats?window=5m"), 200, "\"window\":\"5m\"");
    client_expect(client_get(&world, "/v1/stats?window=2h"), 400, "from 1m to 1h");
}

static void a_worker_fetches_messages(void **state) {
    (void)state;
    const char *leased =
        "{\"messages\":[{\"id\":\"m-1\",\"lease\":\"00ff\",\"attempt\":2,\"replay\":1,"
        "\"key\":null,\"headers\":{\"a\":\"b\"},\"content_type\":\"application/json\","
        "\"body\":{\"n\":1.0}}]}";
    client_expect(client_post(&world, "/v1/queues/orders/lease", ""), 200, leased);
    client_expect(client_post(&world, "/v1/queues/orders/lease", "{\"max\":7}"), 200, leased);
    client_expect(client_post(&world, "/v1/queues/orders/lease", "{\"max\":1001}"), 400,
                  "from 1 to 1000");
    client_expect(client_post(&world, "/v1/queues/ordres/lease", "{}"), 404, "orders");
    world.engine.refuse = STATUS_CONFLICT;
    client_expect(client_post(&world, "/v1/queues/orders/lease", "{}"), 409, "told to refuse");
    world.engine.refuse = STATUS_OK;
}

static void a_worker_answers_for_a_lease(void **state) {
    (void)state;
    client_expect(client_post(&world, "/v1/leases/good/ack", ""), 200,
                  "{\"lease\":\"good\",\"ok\":true}");
    client_expect(client_post(&world, "/v1/leases/good/fail", "{\"status\":503}"), 200, "true");
    client_expect(client_post(&world, "/v1/leases/good/extend", "{\"lease_ms\":5}"), 200, "true");
    client_expect(client_post(&world, "/v1/leases/bad/ack", ""), 409, "leased again");
    client_expect(client_post(&world, "/v1/leases/good/fail", "{\"status\":1}"), 400,
                  "from 100 to 599");
}

static void a_worker_answers_for_many_leases(void **state) {
    (void)state;
    client_expect(
        client_post(&world, "/v1/leases",
                    "{\"ack\":[\"good\"],\"extend\":[{\"lease\":\"bad\",\"lease_ms\":5}]}"),
        200, "{\"results\":[{\"lease\":\"good\",\"ok\":true},{\"lease\":\"bad\",\"problem\":{");
    client_expect(client_post(&world, "/v1/leases", "{}"), 200, "{\"results\":[]}");
    client_expect(client_post(&world, "/v1/leases", ""), 400, "body");
    client_expect(client_post(&world, "/v1/leases", "{\"ack\":[1]}"), 400, "ack[0]: must be");
}

static void the_front_page_and_the_description_are_there(void **state) {
    (void)state;
    client_expect(client_get(&world, "/"), 200, "<title>impound</title>");
    client_expect(client_get(&world, "/assets/nothing"), 404, "load the page again");
    client_expect(client_get(&world, "/openapi.json"), 200, "\"openapi\":\"3.1.0\"");
}

static int setup(void **state) {
    (void)state;
    client_world_open(&world, true);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    client_world_close(&world);
    return 0;
}

/* The worker has nothing else to do until the client leaves: were it not told, it would never end.
 */
static void a_search_is_told_that_its_client_left(void **state) {
    (void)state;
    int fd = client_connect(&world);
    client_send(fd, "GET /v1/letters?reason=patience HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_expect(client_get(&world, "/v1/letters"), 200, "\"letters\":[]");
    close(fd);
    for (int i = 0; i < 2; i++) /* as many as there are workers */
        client_expect(client_get(&world, "/v1/letters"), 200, "\"letters\":[]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_search_is_told_that_its_client_left),
        TEST(a_push_is_held_byte_for_byte),
        TEST(an_explanation_knows_that_the_queue_is_paused),
        TEST(ids_come_back_in_the_order_of_the_lines),
        TEST(what_is_held_already_is_a_duplicate),
        TEST(another_body_is_a_conflict_that_names_its_line),
        TEST(one_bad_line_of_a_hundred_refuses_all),
        TEST(a_push_that_is_refused_says_why),
        TEST(a_problem_is_a_problem_document),
        TEST(an_answer_is_given_while_it_is_kept),
        TEST(what_the_store_does_not_take_is_not_acknowledged),
        TEST(metrics_do_not_call_a_store_unwritable_that_nobody_tried),
        TEST(a_store_that_nobody_writes_to_is_found_ready_again),
        TEST(a_report_is_judged),
        TEST(queues_are_shown_paused_and_resumed),
        TEST(depth_counts_what_is_held_and_not_dead),
        TEST(a_halted_queue_is_listed_while_ready),
        TEST(a_configured_dlq_is_there_while_empty),
        TEST(lists_pass_their_filters_on),
        TEST(what_is_not_held_is_not_found),
        TEST(stats_add_up),
        TEST(a_worker_fetches_messages),
        TEST(a_worker_answers_for_a_lease),
        TEST(a_worker_answers_for_many_leases),
        TEST(the_front_page_and_the_description_are_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
