/* A queue that another node has taken over: commits about it end FENCED, those that shared their
 * group are made all the same, and nothing of the former owner is recorded. */
#include <stdio.h>

#include "base/tempdir.h"
#include "base/log.h"
#include "port/letters.h"
#include "store/disk_posix.h"
#include "store/memory/journal_memory.h"
#include "store/embedded/sqlite_store.h"
#include "test.h"

enum { ORDERS = 1, REFUNDS = 2 };

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return (struct instant){{1700000000000}, {1000}};
}

static struct clock frozen = {.now = read_clock};

/* A cluster in which "orders" is ours at this epoch, and everything else at 1. */
static uint64_t orders_epoch;

static uint64_t epoch(struct cluster *cluster, struct bytes queue) {
    (void)cluster;
    return bytes_is(queue, "orders") ? orders_epoch : 1;
}

static const struct cluster_vtable cluster_vtable = {.epoch = epoch};
static struct cluster cluster = {&cluster_vtable};

struct node {
    char dir[64];
    struct journal_medium *medium;
    struct store *store;
};

static void open_store(struct node *node) {
    char path[128];
    struct err err = {0};
    snprintf(path, sizeof path, "%s/impound.db", node->dir);
    struct sqlite_store_options options = {.path = path,
                                           .disk = &disk_posix,
                                           .clock = &frozen,
                                           .journal = journal_memory_new(node->medium),
                                           .cluster = &cluster};
    if (sqlite_store_open(&options, &node->store, &err) != STATUS_OK)
        fail_msg("%s", err.text);
    assert_int_equal(node->store->vtable->queue_number(node->store, BYTES("orders")), ORDERS);
    assert_int_equal(node->store->vtable->queue_number(node->store, BYTES("refunds")), REFUNDS);
}

static int setup(void **state) {
    static struct node node;
    node = (struct node){.medium = journal_medium_new()};
    orders_epoch = 1;
    assert_int_equal(tempdir_make("/tmp", "impound-fenced", node.dir, sizeof node.dir, NULL),
                     STATUS_OK);
    open_store(&node);
    *state = &node;
    return 0;
}

static int teardown(void **state) {
    struct node *node = *state;
    node->store->vtable->close(node->store);
    journal_medium_free(node->medium);
    tempdir_remove(node->dir);
    return 0;
}

struct commit {
    struct store_commit commit;
    struct store_op ops[2];
    struct envelope envelopes[2];
    enum status status;
};

static void answered(struct store_commit *commit, enum status status) {
    ((struct commit *)commit->arg)->status = status;
}

static void add_put(struct commit *commit, uint32_t queue, const char *id) {
    size_t at = commit->commit.count++;
    commit->envelopes[at] =
        (struct envelope){.id = bytes_of(id),
                          .queue = queue == ORDERS ? BYTES("orders") : BYTES("refunds"),
                          .source = BYTES("{\"kind\":\"builtin\"}"),
                          .retry_after_ms = -1};
    commit->ops[at] = (struct store_op){.kind = STORE_PUT,
                                        .queue = queue,
                                        .envelope = &commit->envelopes[at],
                                        .body = BYTES("{}"),
                                        .check_id = true};
}

static void submit(struct node *node, struct commit *commit) {
    commit->commit.ops = commit->ops;
    commit->commit.done = answered;
    commit->commit.arg = commit;
    commit->status = STATUS_INTERNAL;
    node->store->vtable->submit(node->store, &commit->commit);
}

static enum status put(struct node *node, uint32_t queue, const char *id) {
    struct commit commit = {0};
    add_put(&commit, queue, id);
    submit(node, &commit);
    sqlite_store_step(node->store);
    return commit.status;
}

static bool is_held(struct node *node, const char *id) {
    struct message *held = NULL;
    enum status status = letters_get(node->store->letters, BYTES_NONE, bytes_of(id), &held, NULL);
    message_free(held);
    assert_true(status == STATUS_OK || status == STATUS_NOT_FOUND);
    return status == STATUS_OK;
}

static void commits_of_a_lost_queue_are_fenced_and_others_of_their_group_are_made(void **state) {
    struct node *node = *state;
    struct commit lost = {0}, ours = {0}, both = {0};
    assert_int_equal(put(node, ORDERS, "before"), STATUS_OK);
    journal_medium_grant(node->medium, ORDERS, 2); /* somebody else's now */
    add_put(&lost, ORDERS, "lost");
    add_put(&ours, REFUNDS, "ours");
    add_put(&both, REFUNDS, "shared");
    add_put(&both, ORDERS, "with it");
    submit(node, &lost);
    submit(node, &ours);
    submit(node, &both);
    sqlite_store_step(node->store); /* one group */
    assert_int_equal(lost.status, STATUS_FENCED);
    assert_int_equal(ours.status, STATUS_OK);
    assert_int_equal(both.status, STATUS_FENCED);
    assert_int_equal(both.commit.refused, 1);
    for (int round = 0; round < 2; round++) {
        assert_true(is_held(node, "before") && is_held(node, "ours"));
        assert_false(is_held(node, "lost") || is_held(node, "shared") || is_held(node, "with it"));
        node->store->vtable->close(node->store);
        open_store(node);
    }
    struct store_health health;
    node->store->vtable->health(node->store, &health);
    assert_true(health.writable);
}

static void what_the_cluster_says_is_lost_is_not_even_sent(void **state) {
    struct node *node = *state;
    assert_int_equal(put(node, ORDERS, "before"), STATUS_OK);
    orders_epoch = 0;
    assert_int_equal(put(node, ORDERS, "lost"), STATUS_FENCED);
    assert_int_equal(put(node, REFUNDS, "ours"), STATUS_OK);
    orders_epoch = 3; /* and granted again */
    journal_medium_grant(node->medium, ORDERS, 3);
    assert_int_equal(put(node, ORDERS, "again"), STATUS_OK);
    assert_true(is_held(node, "again") && is_held(node, "ours") && !is_held(node, "lost"));
}

static void a_fenced_id_is_free_again(void **state) {
    struct node *node = *state;
    orders_epoch = 2;
    assert_int_equal(put(node, ORDERS, "a"), STATUS_FENCED);
    journal_medium_grant(node->medium, ORDERS, 2);
    assert_int_equal(put(node, ORDERS, "a"), STATUS_OK);
    struct store_queue_counts counts;
    node->store->vtable->counts(node->store, ORDERS, &counts);
    assert_int_equal(counts.queued, 1);
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            commits_of_a_lost_queue_are_fenced_and_others_of_their_group_are_made, setup, teardown),
        cmocka_unit_test_setup_teardown(what_the_cluster_says_is_lost_is_not_even_sent, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_fenced_id_is_free_again, setup, teardown),
    };
    return cmocka_run_group_tests_name("store fenced", tests, NULL, NULL);
}
