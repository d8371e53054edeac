#include "store/sqlite/list_sql.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/page.h"
#include "store/sqlite/database.h"

enum { FINGERPRINT_SIZE = 17 };

struct building {
    struct list_sql *sql;
    const struct store_query *query;
    struct buf text;
    struct arena *arena;
    struct err *err;
    bool by_death;
};

static void add_value(struct building *building, struct list_value value) {
    assert(building->sql->value_count < LIST_VALUES_MAX);
    building->sql->values[building->sql->value_count++] = value;
}

/* " AND <condition>", whose ? is the value. */
static void where_text(struct building *building, const char *condition, struct bytes text) {
    buf_printf(&building->text, " AND %s", condition);
    add_value(building, (struct list_value){.text = text});
}

static void where_number(struct building *building, const char *condition, int64_t number) {
    buf_printf(&building->text, " AND %s", condition);
    add_value(building, (struct list_value){.number = number});
}

/* ---- filters ---- */

static void filter_texts(struct building *building) {
    const struct store_query *query = building->query;
    const struct {
        const char *condition;
        struct bytes value;
    } filters[] = {
        {"dlq = ?", query->dlq},
        {"category = ?", query->category},
        {"error_type = ?", query->error_type},
        {"key = ?", query->key},
    };
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (filters[i].value.len > 0)
            where_text(building, filters[i].condition, filters[i].value);
    }
    if (query->reason_prefix.len > 0) /* GLOB would need its letters escaped */
        where_text(building, "instr(reason, ?) = 1", query->reason_prefix);
}

static void filter_marks(struct building *building, uint32_t queue) {
    const struct store_query *query = building->query;
    if (query->queue.len > 0)
        where_number(building, "queue = ?", queue);
    if (query->letters)
        buf_str(&building->text, " AND letter_id IS NOT NULL");
    if (query->has_cause)
        where_text(building, "cause = ?", bytes_of(cause_text(query->cause)));
    if (query->has_fingerprint) {
        char text[FINGERPRINT_SIZE];
        snprintf(text, sizeof text, "%016" PRIx64, query->fingerprint);
        where_text(building, "fingerprint = ?", arena_dup(building->arena, bytes_of(text)));
    }
    if (query->min_attempts > 0)
        where_number(building, "attempts >= ?", query->min_attempts);
    if (query->escalated != STORE_ANY)
        buf_str(&building->text,
                query->escalated == STORE_YES ? " AND escalated_ms <> 0" : " AND escalated_ms = 0");
}

static void filter_times(struct building *building) {
    const struct store_query *query = building->query;
    const char *since = "dead_ms >= ?", *until = "dead_ms < ?";
    if (!building->by_death) {
        since = "iif(dead_ms <> 0, dead_ms, created_ms) >= ?";
        until = "iif(dead_ms <> 0, dead_ms, created_ms) < ?";
    }
    if (query->since.ms != 0)
        where_number(building, since, query->since.ms);
    if (query->until.ms != 0)
        where_number(building, until, query->until.ms);
}

/* The file says queued and pending_retry of what is taken; people are told running and retrying. */
static void put_states(struct building *building, uint32_t states, bool taken) {
    static const enum state seen_as[STATE_COUNT] = {
        [STATE_QUEUED] = STATE_RUNNING,
        [STATE_RUNNING] = STATE_RUNNING,
        [STATE_PENDING_RETRY] = STATE_RETRYING,
        [STATE_RETRYING] = STATE_RETRYING,
        [STATE_PENDING_REVIEW] = STATE_PENDING_REVIEW,
        [STATE_REPLAYING] = STATE_REPLAYING,
        [STATE_RESOLVED] = STATE_RESOLVED,
        [STATE_DISCARDED] = STATE_DISCARDED,
    };
    const char *comma = "";
    for (int state = 0; state < STATE_COUNT; state++) {
        int seen = taken ? (int)seen_as[state] : state;
        if (!(states >> seen & 1u))
            continue;
        buf_printf(&building->text, "%s'%s'", comma, state_text((enum state)state));
        comma = ", ";
    }
}

static void filter_states(struct building *building) {
    uint32_t states = building->query->states;
    if (states == 0)
        return;
    buf_str(&building->text, " AND iif(taken, state IN (");
    put_states(building, states, true);
    buf_str(&building->text, "), state IN (");
    put_states(building, states, false);
    buf_str(&building->text, "))");
    const uint32_t only_taken = 1u << STATE_RUNNING | 1u << STATE_RETRYING;
    if ((states & ~only_taken) == 0) /* few: found by number */
        buf_str(&building->text, " AND seq IN (SELECT value FROM json_each(?1))");
}

static enum status filter_words(struct building *building) {
    if (building->query->text.len == 0)
        return STATUS_OK;
    struct bytes words[PAGE_WORDS_MAX];
    size_t count = 0;
    enum status status = page_words(building->query->text, words, &count, building->err);
    if (status != STATUS_OK)
        return status;
    struct buf match;
    buf_init_heap(&match, building->query->text.len + 8 * PAGE_WORDS_MAX);
    for (size_t i = 0; i < count; i++)
        buf_printf(&match, "%s\"%.*s\" *", i ? " " : "", BYTES_ARG(words[i]));
    where_text(building, "error_id IN (SELECT rowid FROM errors_text WHERE errors_text MATCH ?)",
               arena_dup(building->arena, buf_view(&match)));
    buf_free(&match);
    return STATUS_OK;
}

/* ---- order ---- */

static enum status filter_cursor(struct building *building) {
    bool has = false;
    struct page_key after;
    enum status status = page_cursor_parse(building->query, &has, &after, building->err);
    if (status != STATUS_OK || !has)
        return status;
    if (building->by_death) {
        where_number(building, "(dead_ms, seq) < (?", after.dead_ms);
        buf_str(&building->text, ", ?)");
        add_value(building, (struct list_value){.number = (int64_t)after.seq});
    } else {
        where_number(building, "seq < ?", (int64_t)after.seq);
    }
    return STATUS_OK;
}

static void put_order(struct building *building) {
    buf_str(&building->text,
            building->by_death ? " ORDER BY dead_ms DESC, seq DESC" : " ORDER BY seq DESC");
    buf_str(&building->text, " LIMIT ?");
    add_value(building, (struct list_value){.number = (int64_t)building->query->limit + 1});
}

enum status list_sql_build(struct list_sql *out, const struct store_query *query, uint32_t queue,
                           struct bytes taken, struct arena *arena, struct err *err) {
    out->value_count = 0;
    struct building building = {
        .sql = out, .query = query, .arena = arena, .err = err, .by_death = page_by_death(query)};
    buf_init_fixed(&building.text, out->text, sizeof out->text);
    buf_str(&building.text, "SELECT seq, dead_ms, envelope,"
                            " seq IN (SELECT value FROM json_each(?1)) AS taken"
                            " FROM messages WHERE 1");
    add_value(&building, (struct list_value){.text = taken});
    filter_texts(&building);
    filter_marks(&building, queue);
    filter_times(&building);
    filter_states(&building);
    enum status status = filter_words(&building);
    if (status == STATUS_OK)
        status = filter_cursor(&building);
    put_order(&building);
    buf_cstr(&building.text);
    assert(!building.text.overflow);
    return status;
}

enum status list_sql_prepare(const struct list_sql *sql, sqlite3 *db, sqlite3_stmt **out,
                             struct err *err) {
    if (sqlite3_prepare_v2(db, sql->text, -1, out, NULL) != SQLITE_OK)
        return database_trouble(db, sql->text, err);
    for (size_t i = 0; i < sql->value_count; i++) {
        const struct list_value *value = &sql->values[i];
        if (value->text.ptr)
            database_bind_text(*out, (int)i + 1, value->text);
        else
            sqlite3_bind_int64(*out, (int)i + 1, value->number);
    }
    return STATUS_OK;
}
