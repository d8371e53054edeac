/* Prometheus text: its grammar, its names, and the bound on its reasons. */
#include "test.h"

#include <stdio.h>

#include "client.h"

static struct client_world world;

static void expect_line(const char *text, const char *line) {
    if (strstr(text, line))
        return;
    fputs(text, stderr);
    fail_msg("there is no such line: %s", line);
}

static void every_metric_of_the_contract_is_there(void **state) {
    (void)state;
    static const char *const names[] = {
        "impound_queue_depth gauge",
        "impound_queue_lag gauge",
        "impound_attempts_total counter",
        "impound_retries_total counter",
        "impound_retry_budget_remaining_ratio gauge",
        "impound_breaker_state gauge",
        "impound_handler_seconds histogram",
        "impound_dlq_depth gauge",
        "impound_dlq_letters_total counter",
        "impound_dlq_oldest_age_seconds gauge",
        "impound_dlq_cap_ratio gauge",
        "impound_store_commit_seconds histogram",
        "impound_build_info gauge",
    };
    char *text = client_get(&world, "/metrics");
    expect_line(text, "Content-Type: text/plain; version=0.0.4");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n# TYPE %s\n", names[i]);
        expect_line(text, line);
    }
    free(text);
}

static void values_stand_behind_their_labels(void **state) {
    (void)state;
    struct engine_queue_view *queue = &world.engine.queues[0];
    queue->counts = (struct store_queue_counts){.queued = 2, .pending_retry = 3, .taken = 1};
    queue->results[RESULT_RETRY] = 9;
    queue->breaker = BREAKER_OPEN;
    queue->seconds_buckets[0] = 4;
    queue->seconds_buckets[2] = 1;
    queue->seconds_buckets[ENGINE_SECONDS_BUCKETS] = 2;
    queue->seconds_sum = 12.5;
    char *text = client_get(&world, "/metrics");
    expect_line(text, "\nimpound_build_info{version=\"1.2.3\"} 1\n");
    expect_line(text, "\nimpound_queue_depth{queue=\"orders\"} 6\n");
    expect_line(text, "\nimpound_attempts_total{queue=\"orders\",result=\"retry\"} 9\n");
    expect_line(text, "\nimpound_breaker_state{queue=\"orders\"} 1\n");
    expect_line(text, "\nimpound_handler_seconds_bucket{queue=\"orders\",le=\"1\"} 4\n");
    expect_line(text, "\nimpound_handler_seconds_bucket{queue=\"orders\",le=\"3\"} 5\n");
    expect_line(text, "\nimpound_handler_seconds_bucket{queue=\"orders\",le=\"+Inf\"} 7\n");
    expect_line(text, "\nimpound_handler_seconds_sum{queue=\"orders\"} 12.5\n");
    expect_line(text, "\nimpound_handler_seconds_count{queue=\"orders\"} 7\n");
    expect_line(text, "\nimpound_dlq_cap_ratio{dlq=\"orders.dlq\"} 0\n");
    expect_line(text, "\nimpound_store_writable 1\n");
    free(text);
}

static void labels_are_escaped(void **state) {
    (void)state;
    snprintf(world.engine.queues[0].name, 256, "a\"b\\c\nd");
    char *text = client_get(&world, "/metrics");
    expect_line(text, "\nimpound_queue_depth{queue=\"a\\\"b\\\\c\\nd\"} 0\n");
    free(text);
}

static void stored(struct store_commit *commit, enum status status) {
    commit->arg = status == STATUS_OK ? commit : NULL;
}

static void bury(const char *id, struct bytes reason) {
    struct envelope envelope = {.state = STATE_PENDING_REVIEW,
                                .id = bytes_of(id),
                                .letter_id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .category = BYTES("bug"),
                                .reason = reason,
                                .source = BYTES("{}"),
                                .retry_after_ms = -1,
                                .created_at = {1},
                                .dead_at = {1}};
    struct store_op op = {.kind = STORE_PUT,
                          .queue = world.store->vtable->queue_number(world.store, BYTES("orders")),
                          .envelope = &envelope,
                          .body = BYTES("1")};
    struct store_commit commit = {.ops = &op, .count = 1, .done = stored};
    world.store->vtable->submit(world.store, &commit);
    assert_ptr_equal(commit.arg, &commit);
}

static void reasons_beyond_fifty_are_folded(void **state) {
    (void)state;
    for (int i = 0; i < 60; i++) {
        char reason[32];
        snprintf(reason, sizeof reason, "reason_%02d", i);
        bury(reason, bytes_of(reason));
    }
    char *text = client_get(&world, "/metrics");
    size_t series = 0;
    for (const char *at = text; (at = strstr(at, "\nimpound_dlq_letters_total{")); at++)
        series++;
    assert_int_equal(series, 51);
    expect_line(
        text,
        "\nimpound_dlq_letters_total{dlq=\"orders.dlq\",category=\"bug\",reason=\"other\"} 10\n");
    expect_line(text, "\nimpound_dlq_depth{dlq=\"orders.dlq\"} 60\n");
    expect_line(text, "\nimpound_dlq_cap_ratio{dlq=\"orders.dlq\"} 0.6");
    free(text);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_metric_of_the_contract_is_there),
        TEST(values_stand_behind_their_labels),
        TEST(labels_are_escaped),
        TEST(reasons_beyond_fifty_are_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
