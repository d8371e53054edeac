/* Retention on made-up time, with the store kept in memory and archives in a folder. */
#include "triage/decide/retention.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/tempdir.h"
#include "base/log.h"
#include "store/fake_store.h"
#include "test.h"
#include "triage/archive/archive.h"
#include "triage/query/audit.h"

enum { DAY_MS = 24 * 3600 * 1000, TEXT_MAX = 1 << 20 };

static char folder[64];
static unsigned case_number;
static char root[128];
static struct store *store;
static const struct letters_vtable *sound; /* while another stands in its place */
static struct triage triage;
static struct instant now;
static struct arena arena;
static struct err err;
static struct retention_rule rule;

static struct instant read_clock(struct clock *clock) {
    (void)clock;
    return now;
}
static struct clock test_clock = {.now = read_clock};

static int start(void **state) {
    (void)state;
    snprintf(root, sizeof root, "%s/%u", folder, ++case_number);
    now = (struct instant){.wall = {1763182181123}};
    store = fake_store_new(true);
    triage_init(&triage, &test_clock, 7);
    triage.store = store;
    arena_init_heap(&arena, 4096);
    rule = (struct retention_rule){.dlq = BYTES("orders.dlq"),
                                   .archive = BYTES("file:archive/"),
                                   .keep_ms = {RETENTION_NEVER, DAY_MS, DAY_MS}};
    return 0;
}

static int end(void **state) {
    (void)state;
    arena_free(&arena);
    triage_free(&triage);
    store->vtable->close(store);
    return 0;
}

static void put_letter_with(const char *id, enum state as, int64_t days_ago, bool read_only) {
    struct wall then = {now.wall.ms - days_ago * DAY_MS};
    struct envelope envelope = {.id = bytes_of(id),
                                .letter_id = bytes_of(id),
                                .queue = BYTES("orders"),
                                .dlq = BYTES("orders.dlq"),
                                .state = as,
                                .reason = BYTES("timeout"),
                                .content_type = BYTES("application/json"),
                                .source = BYTES("{\"kind\":\"builtin\"}"),
                                .retry_after_ms = -1,
                                .created_at = then,
                                .dead_at = then,
                                .read_only = read_only,
                                .edited = true};
    struct store_op ops[] = {
        {.kind = STORE_PUT,
         .queue = store->vtable->queue_number(store, BYTES("orders")),
         .envelope = &envelope,
         .body = BYTES("{}")},
        {.kind = STORE_KEEP,
         .keep = {.space = SPACE_ORIGINAL, .name = bytes_of(id), .value = BYTES("{\"first\":1}")}}};
    assert_int_equal(triage_commit(&triage, ops, 2, &err), STATUS_OK);
}

static void put_letter(const char *id, enum state as, int64_t days_ago) {
    put_letter_with(id, as, days_ago, false);
}

static enum status sweep(uint64_t *gone) {
    *gone = 0;
    return retention_sweep(&triage, bytes_of(root), &rule, NULL, gone, &err);
}

static bool is_held(const char *id) {
    struct message *held = NULL;
    bool yes = letters_get(store->letters, BYTES_NONE, bytes_of(id), &held, &err) == STATUS_OK;
    message_free(held);
    return yes;
}

static bool has_original(const char *id) {
    struct bytes value;
    return letters_note(store->letters, 0, SPACE_ORIGINAL, bytes_of(id), now.wall, &arena, &value,
                        &err) == STATUS_OK;
}

static struct bytes archives(void) {
    char path[256];
    struct buf text;
    buf_init_fixed(&text, arena_alloc(&arena, TEXT_MAX), TEXT_MAX);
    struct json_out json = json_out(&text);
    snprintf(path, sizeof path, "%s/archive/orders.dlq", root);
    assert_int_equal(archive_list(bytes_of(path), &json, &err), STATUS_OK);
    return buf_view(&text);
}

static bool says(struct bytes text, const char *what) {
    return bytes_find(text, bytes_of(what)) < text.len;
}

static void what_is_due_leaves_and_nothing_else(void **state) {
    (void)state;
    uint64_t gone;
    put_letter("old-resolved", STATE_RESOLVED, 2);
    put_letter("old-discarded", STATE_DISCARDED, 2);
    put_letter("old-open", STATE_PENDING_REVIEW, 200);
    put_letter("new-resolved", STATE_RESOLVED, 0);
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_int_equal(gone, 2);
    assert_false(is_held("old-resolved") || is_held("old-discarded"));
    assert_true(is_held("old-open") && is_held("new-resolved"));
    assert_false(has_original("old-resolved"));
    assert_true(has_original("new-resolved"));
    assert_true(says(archives(), "\"dlq\":\"orders.dlq\",\"letters\":1"));
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_int_equal(gone, 0);
}

static void what_its_broker_has_is_not_touched(void **state) {
    (void)state;
    uint64_t gone;
    rule.keep_ms[RETENTION_UNRESOLVED] = DAY_MS;
    put_letter_with("peeked", STATE_PENDING_REVIEW, 200, true);
    put_letter("open", STATE_PENDING_REVIEW, 200);
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_int_equal(gone, 1);
    assert_int_equal(store->vtable->dlq_depth(store, BYTES("orders.dlq")), 1);
}

static void what_cannot_be_archived_stays(void **state) {
    (void)state;
    uint64_t gone;
    put_letter("old", STATE_RESOLVED, 2);
    FILE *file = fopen(root, "w"); /* where the folder should be */
    assert_non_null(file);
    fclose(file);
    assert_int_equal(sweep(&gone), STATUS_IO);
    assert_int_equal(gone, 0);
    assert_true(is_held("old") && has_original("old"));
}

static enum status get_all_but_the_first(struct letters *from, uint64_t seq, struct message **out,
                                         struct err *why) {
    if (seq == 1)
        return err_set(why, STATUS_CORRUPT, "damaged");
    return sound->get_seq(from, seq, out, why);
}

static void what_cannot_be_read_stays_alone(void **state) {
    (void)state;
    uint64_t gone;
    put_letter("damaged", STATE_RESOLVED, 3);
    put_letter("resolved", STATE_RESOLVED, 2);
    put_letter("discarded", STATE_DISCARDED, 2);
    sound = store->letters->vtable;
    struct letters_vtable damaged = *sound;
    damaged.get_seq = get_all_but_the_first;
    store->letters->vtable = &damaged;
    enum status status = sweep(&gone);
    store->letters->vtable = sound;
    assert_int_equal(status, STATUS_OK);
    assert_int_equal(gone, 2);
    assert_true(is_held("damaged"));
    assert_false(is_held("resolved") || is_held("discarded"));
}

static void without_an_archive_what_was_decided_is_deleted_and_audited(void **state) {
    (void)state;
    uint64_t gone;
    struct buf text;
    buf_init_fixed(&text, arena_alloc(&arena, TEXT_MAX), TEXT_MAX);
    rule.archive = BYTES_NONE;
    rule.keep_ms[RETENTION_UNRESOLVED] = DAY_MS; /* which the configuration refuses */
    put_letter("old", STATE_RESOLVED, 2);
    put_letter("open", STATE_PENDING_REVIEW, 2);
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_false(is_held("old"));
    assert_true(is_held("open"));
    assert_int_equal(audit_list(&triage, BYTES_NONE, 10, &text, &err), STATUS_OK);
    assert_true(says(buf_view(&text),
                     "\"what\":\"retention.delete\",\"why\":\"retention.resolved\","
                     "\"subject\":\"orders.dlq\",\"filter\":null,\"count\":1"));
}

static void an_unresolved_letter_expires_and_is_kept_as_resolved(void **state) {
    (void)state;
    uint64_t gone;
    struct message *held = NULL;
    rule.keep_ms[RETENTION_UNRESOLVED] = DAY_MS;
    put_letter("open", STATE_PENDING_REVIEW, 2);
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_int_equal(gone, 1);
    assert_int_equal(letters_get(store->letters, BYTES_NONE, BYTES("open"), &held, &err),
                     STATUS_OK);
    assert_int_equal(held->envelope.state, STATE_RESOLVED);
    assert_int_equal(held->envelope.resolution, RESOLUTION_EXPIRED);
    assert_int_equal(held->envelope.resolved_at.ms, now.wall.ms);
    message_free(held);
    now.wall.ms += 2 * DAY_MS;
    now.mono.ms += 2 * DAY_MS;
    assert_int_equal(sweep(&gone), STATUS_OK);
    assert_false(is_held("open"));
}

static void looks_come_often_enough_for_the_shortest_rule(void **state) {
    (void)state;
    struct retention_rule rules[] = {{.keep_ms = {RETENTION_NEVER, 30LL * DAY_MS, 60 * 1000}}};
    assert_int_equal(retention_interval_ms(rules, 1), 6000);
    rules[0].keep_ms[RETENTION_DISCARDED] = 1;
    assert_int_equal(retention_interval_ms(rules, 1), 1000);
    rules[0].keep_ms[RETENTION_DISCARDED] = RETENTION_NEVER;
    assert_int_equal(retention_interval_ms(rules, 1), 3600 * 1000);
    assert_int_equal(retention_interval_ms(rules, 0), 3600 * 1000);
}

static int make_folder(void **state) {
    (void)state;
    return tempdir_make("/tmp", "impound-retention", folder, sizeof folder, NULL) ? -1 : 0;
}

static int remove_folder(void **state) {
    (void)state;
    tempdir_remove(folder);
    return 0;
}

int main(void) {
    log_set_level(LOG_ERROR + 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_due_leaves_and_nothing_else, start, end),
        cmocka_unit_test_setup_teardown(what_its_broker_has_is_not_touched, start, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_archived_stays, start, end),
        cmocka_unit_test_setup_teardown(what_cannot_be_read_stays_alone, start, end),
        cmocka_unit_test_setup_teardown(without_an_archive_what_was_decided_is_deleted_and_audited,
                                        start, end),
        cmocka_unit_test_setup_teardown(an_unresolved_letter_expires_and_is_kept_as_resolved, start,
                                        end),
        cmocka_unit_test(looks_come_often_enough_for_the_shortest_rule),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
