/* What a list costs: the steps that SQLite takes for it, whatever the machine. */
#include <sqlite3.h>
#include <stdio.h>

#include "store/embedded/sqlite/list/error_words.h"
#include "store/embedded/sqlite/list/list_sql.h"
#include "store/embedded/sqlite/schema.h"
#include "test.h"

enum { LETTERS = 5000 };

static const char filling[] =
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
    " INSERT INTO messages (seq, queue, id, letter_id, dlq, state, attempts, created_ms, dead_ms,"
    " due_ms, escalated_ms, error_id, envelope) SELECT i, 1, i, i, 'orders.dlq', 'pending_review',"
    " 1, i, i, 0, 0, 1, '{}' FROM n;"
    "UPDATE messages SET traits = letter_traits(queue, cause, category, reason, error_type,"
    " fingerprint, key, attempts, escalated_ms);"
    "INSERT INTO errors VALUES (1, 1, 5000, 'ValueError no price');"
    "INSERT INTO errors_text (rowid, text) VALUES (1, 'ValueError no price');";

static sqlite3 *open_filled(void) {
    sqlite3 *db = NULL;
    struct err err;
    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    assert_int_equal(schema_prepare(db, &err), STATUS_OK);
    assert_int_equal(error_words_register(db, &err), STATUS_OK);
    assert_int_equal(sqlite3_exec(db, filling, NULL, NULL, NULL), SQLITE_OK);
    return db;
}

struct cost {
    int rows, steps, sorts, pages;
};

/* Pages that SQLite looked at since it was last asked. */
static int pages_seen(sqlite3 *db) {
    int seen = 0, most = 0;
    assert_int_equal(sqlite3_db_status(db, SQLITE_DBSTATUS_CACHE_HIT, &seen, &most, 1), SQLITE_OK);
    return seen;
}

static struct cost cost_of(sqlite3 *db, const struct letters_query *query) {
    struct arena arena;
    struct list_sql sql;
    struct err err;
    sqlite3_stmt *stmt = NULL;
    struct cost cost = {0};
    const struct list_known known = {.queue = 1, .taken = BYTES("[]")};
    arena_init_heap(&arena, 4096);
    assert_int_equal(list_sql_build(&sql, query, &known, &arena, &err), STATUS_OK);
    assert_int_equal(list_sql_prepare(&sql, db, &stmt, &err), STATUS_OK);
    (void)pages_seen(db);
    while (sqlite3_step(stmt) == SQLITE_ROW)
        cost.rows++;
    cost.pages = pages_seen(db);
    cost.steps = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, 0);
    cost.sorts = sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_SORT, 0);
    assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
    arena_free(&arena);
    return cost;
}

static void words_that_no_error_has_cost_no_look_at_any_letter(void **state) {
    (void)state;
    sqlite3 *db = open_filled();
    struct letters_query found = {.letters = true, .limit = 10, .text = BYTES("value price")};
    struct letters_query none = {.letters = true, .limit = 10, .text = BYTES("price timeout")};
    assert_int_equal(cost_of(db, &found).rows, 11); /* one more tells that there are more */
    struct cost cost = cost_of(db, &none);
    assert_int_equal(cost.rows, 0);
    assert_in_range(cost.steps, 1, LETTERS / 2);
    none.dlq = BYTES("orders.dlq");
    assert_in_range(cost_of(db, &none).steps, 1, LETTERS / 2);
    none.states = 1u << STATE_PENDING_REVIEW;
    assert_in_range(cost_of(db, &none).steps, 1, LETTERS / 2);
    sqlite3_close(db);
}

static int ask(sqlite3 *db, const char *sql) {
    sqlite3_stmt *stmt = NULL;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &stmt, NULL), SQLITE_OK);
    int answer = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : -1;
    sqlite3_finalize(stmt);
    return answer;
}

/* Numbers on both sides of a word's and of the first allocation's end. */
static void words_are_found_by_the_number_of_their_text(void **state) {
    (void)state;
    static const int with[] = {2, 63, 64, 65535, 65536, 1000000};
    sqlite3 *db = open_filled();
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        char sql[128];
        snprintf(sql, sizeof sql, "INSERT INTO errors_text (rowid, text) VALUES (%d, 'timeout')",
                 with[i]);
        assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    assert_int_equal(ask(db, "SELECT sum(has_words('\"time\" *', value)) FROM json_each("
                             "'[2, 63, 64, 65535, 65536, 1000000]')"),
                     6);
    assert_int_equal(ask(db, "SELECT sum(has_words('\"time\" *', value)) FROM json_each("
                             "'[0, 1, 3, 62, 65, 65534, 65537, 999999, 1000001, 9000000, null]')"),
                     0);
    assert_int_equal(ask(db, "SELECT has_words('\"none\" *', 2)"), 0);
    assert_int_equal(ask(db, "SELECT has_words('\"torn', 2)"), -1);
    sqlite3_close(db);
}

static void a_list_of_one_state_follows_the_index_alone(void **state) {
    (void)state;
    sqlite3 *db = open_filled();
    struct letters_query one = {.letters = true,
                                .limit = 100,
                                .dlq = BYTES("orders.dlq"),
                                .states = 1u << STATE_PENDING_REVIEW};
    struct letters_query two = one;
    two.states |= 1u << STATE_REPLAYING;
    for (int oldest_first = 0; oldest_first < 2; oldest_first++) {
        one.oldest_first = two.oldest_first = oldest_first;
        struct cost cost = cost_of(db, &one), more = cost_of(db, &two);
        assert_int_equal(cost.rows, 101);
        assert_int_equal(more.rows, 101);
        assert_int_equal(cost.sorts, 0);
        assert_in_range(cost.steps, 1, more.steps * 2 / 3);
    }
    one.states = 1u << STATE_RESOLVED;
    assert_int_equal(cost_of(db, &one).rows, 0);
    sqlite3_close(db);
}

/* A row costs a page or two, the whole index some hundred. */
static void a_filter_that_nothing_matches_looks_at_no_row(void **state) {
    (void)state;
    const struct letters_query none[] = {
        {.category = BYTES("nobody's")},
        {.error_type = BYTES("NoError")},
        {.key = BYTES("k1")},
        {.has_cause = true, .cause = CAUSE_CRASH},
        {.has_fingerprint = true, .fingerprint = 0xabcdef},
        {.min_attempts = 2},
        {.min_attempts = 1000},
        {.escalated = LETTERS_YES},
        {.text = BYTES("once")},
    };
    sqlite3 *db = open_filled();
    assert_int_equal(sqlite3_exec(db, "INSERT INTO errors_text (rowid, text) VALUES (2, 'once')",
                                  NULL, NULL, NULL),
                     SQLITE_OK);
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        struct letters_query query = none[i];
        query.letters = true;
        query.limit = 10;
        query.states = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING;
        struct cost cost = cost_of(db, &query);
        assert_int_equal(cost.rows, 0);
        assert_in_range(cost.pages, 1, LETTERS / 4);
        query.dlq = BYTES("orders.dlq");
        query.states = 1u << STATE_PENDING_REVIEW;
        assert_in_range(cost_of(db, &query).pages, 1, LETTERS / 4);
    }
    sqlite3_close(db);
}

/* Each page costs what the first does, wherever the list is bounded in time. */
static void a_page_does_not_begin_with_the_pages_before(void **state) {
    (void)state;
    sqlite3 *db = open_filled();
    for (int oldest_first = 0; oldest_first < 2; oldest_first++) {
        struct letters_query query = {.letters = true,
                                      .limit = 10,
                                      .dlq = BYTES("orders.dlq"),
                                      .states = 1u << STATE_PENDING_REVIEW,
                                      .oldest_first = oldest_first,
                                      .since = {100},
                                      .until = {4901}};
        int first = cost_of(db, &query).steps;
        query.cursor = oldest_first ? BYTES("d4500.4500") : BYTES("d500.500");
        struct cost cost = cost_of(db, &query);
        assert_int_equal(cost.rows, 11);
        assert_in_range(cost.steps, 1, 2 * first);
        query.cursor = oldest_first ? BYTES("d50.50") : BYTES("d4950.4950");
        cost = cost_of(db, &query);
        assert_int_equal(cost.rows, 11);
        assert_in_range(cost.steps, 1, 2 * first);
        query.cursor = oldest_first ? BYTES("d4895.4895") : BYTES("d105.105");
        assert_int_equal(cost_of(db, &query).rows, 5);
    }
    sqlite3_close(db);
}

/* All of one moment: what tells them apart is their number. */
static void letters_of_one_moment_are_not_sorted(void **state) {
    (void)state;
    sqlite3 *db = open_filled();
    struct letters_query query = {.letters = true,
                                  .limit = 10,
                                  .dlq = BYTES("orders.dlq"),
                                  .states = 1u << STATE_PENDING_REVIEW};
    assert_int_equal(sqlite3_exec(db, "UPDATE messages SET dead_ms = 1", NULL, NULL, NULL),
                     SQLITE_OK);
    struct cost cost = cost_of(db, &query);
    assert_int_equal(cost.rows, 11);
    assert_in_range(cost.steps, 1, LETTERS);
    sqlite3_close(db);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_that_no_error_has_cost_no_look_at_any_letter),
        cmocka_unit_test(words_are_found_by_the_number_of_their_text),
        cmocka_unit_test(a_list_of_one_state_follows_the_index_alone),
        cmocka_unit_test(a_filter_that_nothing_matches_looks_at_no_row),
        cmocka_unit_test(a_page_does_not_begin_with_the_pages_before),
        cmocka_unit_test(letters_of_one_moment_are_not_sorted),
    };
    return cmocka_run_group_tests_name("list_sql", tests, NULL, NULL);
}
