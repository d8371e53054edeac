#include "store/embedded/sqlite/list/list_sql.h"

#include <assert.h>

#include "core/decide.h"
#include "store/tables/list_page.h"
#include "store/embedded/sqlite/database.h"
#include "store/embedded/sqlite/list/filter_signature.h"

#define IS_TAKEN "seq IN (SELECT value FROM json_each(?1))"

struct list_select {
    struct list_sql *sql;
    const struct letters_query *query;
    const struct list_known *known;
    struct buf text;
    struct arena *arena;
    struct err *err;
    bool has_cursor;
    struct list_page_key after; /* if there is a cursor */
    struct bytes match;         /* the search words in the syntax of FTS5; empty: none */
    bool by_death;
};

static void add_value(struct list_select *building, struct list_value value) {
    assert(building->sql->value_count < LIST_VALUES_MAX);
    building->sql->values[building->sql->value_count++] = value;
}

/* Adds " AND <condition>", with the value bound to its ?. */
static void where_text(struct list_select *building, const char *condition, struct bytes text) {
    buf_printf(&building->text, " AND %s", condition);
    add_value(building, (struct list_value){.text = text});
}

static void where_number(struct list_select *building, const char *condition, int64_t number) {
    buf_printf(&building->text, " AND %s", condition);
    add_value(building, (struct list_value){.number = number});
}

/* ---- filters ---- */

/* As decide_reason_matches; with GLOB special characters would have to be escaped. */
static void filter_reason(struct list_select *building) {
    struct bytes prefix = building->query->reason_prefix;
    struct buf behind;
    buf_init_heap(&behind, sizeof DECIDE_EXHAUSTED + prefix.len);
    buf_str(&behind, DECIDE_EXHAUSTED);
    buf_bytes(&behind, prefix);
    where_text(building, "(instr(reason, ?) = 1 OR instr(reason, ?) = 1)", prefix);
    add_value(building, (struct list_value){.text = arena_dup(building->arena, buf_view(&behind))});
    buf_free(&behind);
}

static void filter_texts(struct list_select *building) {
    const struct letters_query *query = building->query;
    const struct {
        const char *condition;
        struct bytes value;
    } filters[] = {
        {"dlq = ?", building->by_death ? BYTES_NONE : query->dlq},
        {"category = ?", query->category},
        {"error_type = ?", query->error_type},
        {"key = ?", query->key},
    };
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
        if (filters[i].value.len > 0)
            where_text(building, filters[i].condition, filters[i].value);
    }
    if (query->reason_prefix.len > 0)
        filter_reason(building);
}

static void filter_marks(struct list_select *building) {
    const struct letters_query *query = building->query;
    if (query->queue.len > 0)
        where_number(building, "queue = ?", building->known->queue);
    if (query->letters)
        buf_str(&building->text, " AND letter_id IS NOT NULL");
    if (query->has_cause)
        where_text(building, "cause = ?", bytes_of(cause_text(query->cause)));
    if (query->has_fingerprint) {
        char text[DATABASE_FINGERPRINT_SIZE];
        database_fingerprint(query->fingerprint, text);
        where_text(building, "fingerprint = ?", arena_dup(building->arena, bytes_of(text)));
    }
    if (query->min_attempts > 0)
        where_number(building, "attempts >= ?", query->min_attempts);
    if (query->escalated != LETTERS_ANY)
        buf_str(&building->text, query->escalated == LETTERS_YES ? " AND escalated_ms <> 0"
                                                                 : " AND escalated_ms = 0");
}

static void filter_reasons(struct list_select *building) {
    const struct list_known *known = building->known;
    if (known->reason_count == 0)
        return;
    where_number(building, "traits & ? IN (", filter_signature_reason_mask());
    for (size_t i = 0; i < known->reason_count; i++) {
        buf_str(&building->text, i ? ", ?" : "?");
        add_value(building,
                  (struct list_value){.number = filter_signature_reason(known->reasons[i])});
    }
    buf_char(&building->text, ')');
}

/* The index has the signatures: rows that do not match are not read. The exact conditions follow.
 */
static void filter_traits(struct list_select *building) {
    struct filter_signature_wanted wanted =
        filter_signature_wanted(building->query, building->known->queue);
    if (!building->by_death)
        return;
    if (wanted.mask != 0) {
        where_number(building, "traits & ?", wanted.mask);
        buf_str(&building->text, " = ?");
        add_value(building, (struct list_value){.number = wanted.value});
    }
    if (wanted.least > 0)
        where_number(building, "traits >= ?", wanted.least);
    filter_reasons(building);
}

/* SQLite starts at one bound of an index range, and may choose the wrong one of two: then every
 * page would begin with a scan of all previous pages. So the bound that the other one implies is
 * left out. */
static bool is_past_time(const struct list_select *building) {
    const struct letters_query *query = building->query;
    return query->oldest_first ? query->since.ms > building->after.dead_ms
                               : query->until.ms != 0 && query->until.ms <= building->after.dead_ms;
}

static bool is_behind_cursor(const struct list_select *building, bool since) {
    return building->by_death && building->has_cursor && !is_past_time(building) &&
           since == building->query->oldest_first;
}

static void filter_times(struct list_select *building) {
    const struct letters_query *query = building->query;
    const char *since = "dead_ms >= ?", *until = "dead_ms < ?";
    if (!building->by_death) {
        since = "iif(dead_ms <> 0, dead_ms, created_ms) >= ?";
        until = "iif(dead_ms <> 0, dead_ms, created_ms) < ?";
    }
    if (query->since.ms != 0 && !is_behind_cursor(building, true))
        where_number(building, since, query->since.ms);
    if (query->until.ms != 0 && !is_behind_cursor(building, false))
        where_number(building, until, query->until.ms);
}

/* The file has queued and pending_retry for taken messages; users see running and retrying. */
static enum state seen_as(enum state stored) {
    static const enum state seen[STATE_COUNT] = {
        [STATE_QUEUED] = STATE_RUNNING,
        [STATE_RUNNING] = STATE_RUNNING,
        [STATE_PENDING_RETRY] = STATE_RETRYING,
        [STATE_RETRYING] = STATE_RETRYING,
        [STATE_PENDING_REVIEW] = STATE_PENDING_REVIEW,
        [STATE_REPLAYING] = STATE_REPLAYING,
        [STATE_RESOLVED] = STATE_RESOLVED,
        [STATE_DISCARDED] = STATE_DISCARDED,
    };
    return seen[stored];
}

static void put_states(struct list_select *building, uint32_t states, bool taken) {
    const char *comma = "";
    for (int state = 0; state < STATE_COUNT; state++) {
        int seen = taken ? (int)seen_as((enum state)state) : state;
        if (!(states >> seen & 1u))
            continue;
        buf_printf(&building->text, "%s'%s'", comma, state_text((enum state)state));
        comma = ", ";
    }
}

/* True if each index range is of a state that is shown as stored. */
static bool is_as_stored(const struct list_select *building) {
    const uint32_t changing =
        1u << STATE_QUEUED | 1u << STATE_RUNNING | 1u << STATE_PENDING_RETRY | 1u << STATE_RETRYING;
    return building->by_death && (building->query->states & changing) == 0;
}

static void filter_states(struct list_select *building) {
    uint32_t states = building->query->states;
    if (states == 0 || is_as_stored(building))
        return;
    buf_str(&building->text, " AND iif(" IS_TAKEN ", state IN (");
    put_states(building, states, true);
    buf_str(&building->text, "), state IN (");
    put_states(building, states, false);
    buf_str(&building->text, "))");
    const uint32_t only_taken = 1u << STATE_RUNNING | 1u << STATE_RETRYING;
    if ((states & ~only_taken) == 0) /* few rows, found by seq */
        buf_str(&building->text, " AND " IS_TAKEN);
}

static enum status read_words(struct list_select *building) {
    if (building->query->text.len == 0)
        return STATUS_OK;
    struct bytes words[LIST_PAGE_WORDS_MAX];
    size_t count = 0;
    enum status status = list_page_words(building->query->text, words, &count, building->err);
    if (status != STATUS_OK)
        return status;
    struct buf match;
    buf_init_heap(&match, building->query->text.len + 8 * LIST_PAGE_WORDS_MAX);
    for (size_t i = 0; i < count; i++)
        buf_printf(&match, "%s\"%.*s\" *", i ? " " : "", BYTES_ARG(words[i]));
    building->match = arena_dup(building->arena, buf_view(&match));
    buf_free(&match);
    return STATUS_OK;
}

static void filter_words(struct list_select *building) {
    if (building->match.len > 0)
        where_text(building, "has_words(?, error_id)", building->match);
}

/* ---- order ---- */

static void filter_cursor(struct list_select *building) {
    struct list_page_key after = building->after;
    bool oldest_first = building->query->oldest_first;
    if (!building->has_cursor || (building->by_death && is_past_time(building)))
        return;
    if (building->by_death) {
        where_number(building, oldest_first ? "(dead_ms, seq) > (?" : "(dead_ms, seq) < (?",
                     after.dead_ms);
        buf_str(&building->text, ", ?)");
        add_value(building, (struct list_value){.number = (int64_t)after.seq});
    } else {
        where_number(building, oldest_first ? "seq > ?" : "seq < ?", (int64_t)after.seq);
    }
}

static void put_order(struct list_select *building) {
    const char *way = building->query->oldest_first ? "ASC" : "DESC";
    if (building->by_death)
        buf_printf(&building->text, " ORDER BY dead_ms %s, seq %s", way, way);
    else
        buf_printf(&building->text, " ORDER BY seq %s", way);
    buf_str(&building->text, " LIMIT ?");
    add_value(building, (struct list_value){.number = (int64_t)building->query->limit + 1});
}

/* ---- letters ---- */

/* Every DLQ with a row in the file, each found by one step along the index. */
#define ALL_DLQS                                                                                   \
    "(WITH RECURSIVE held (dlq) AS (SELECT min(dlq) FROM messages WHERE dlq IS NOT NULL"           \
    " UNION ALL SELECT (SELECT min(dlq) FROM messages WHERE dlq > held.dlq) FROM held"             \
    " WHERE held.dlq IS NOT NULL) SELECT dlq FROM held WHERE dlq IS NOT NULL)"

/* The stored states of messages that can be shown in one of the wanted states: a bit each. */
static uint32_t stored_states(uint32_t asked) {
    uint32_t states = 0;
    for (int state = 0; state < STATE_COUNT; state++) {
        if (asked == 0 || (asked >> state & 1u) || (asked >> seen_as((enum state)state) & 1u))
            states |= 1u << state;
    }
    return states;
}

static struct bytes states_json(struct list_select *building, uint32_t states) {
    char memory[256];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    struct json_out out = json_out(&text);
    json_open(&out, '[');
    for (int state = 0; state < STATE_COUNT; state++) {
        if (states >> state & 1u)
            json_put_str(&out, state_text((enum state)state));
    }
    json_close(&out, ']');
    assert(!text.overflow);
    return arena_dup(building->arena, buf_view(&text));
}

/* True for one DLQ and one state that is shown as stored, without search words: a single index
 * range, already in order. */
static bool is_one_run(const struct list_select *building, uint32_t states) {
    if (!building->by_death || building->query->dlq.len == 0 || building->match.len > 0)
        return false;
    for (int state = 0; state < STATE_COUNT; state++) {
        if (states == 1u << state)
            return (int)seen_as((enum state)state) == state;
    }
    return false;
}

static void open_run(struct list_select *building, uint32_t states) {
    buf_str(&building->text, " FROM messages WHERE 1");
    where_text(building, "dlq = ?", building->query->dlq);
    for (int state = 0; state < STATE_COUNT; state++) {
        if (states == 1u << state)
            where_text(building, "state = ?", bytes_of(state_text((enum state)state)));
    }
}

/* Every DLQ and state, each with its own index range. Search words that no error text has end the
 * query before the first range; otherwise every letter would be checked. */
static void open_all(struct list_select *building, uint32_t states) {
    bool one = building->query->dlq.len > 0;
    add_value(building, (struct list_value){.text = states_json(building, states)});
    if (one)
        add_value(building, (struct list_value){.text = building->query->dlq});
    buf_printf(&building->text,
               " FROM (SELECT d.dlq AS in_dlq, s.value AS in_state"
               " FROM json_each(?2) AS s, %s AS d)"
               " CROSS JOIN messages WHERE 1",
               one ? "(SELECT ?3 AS dlq)" : ALL_DLQS);
    if (building->match.len > 0)
        where_text(building, "EXISTS (SELECT 1 FROM errors_text WHERE errors_text MATCH ?)",
                   building->match);
}

/* Selects one page from each range, and merges them: no list sorts more rows than that. */
static void open_runs(struct list_select *building, uint32_t states) {
    open_all(building, states);
    buf_str(&building->text, " AND seq IN (SELECT seq FROM messages"
                             " WHERE dlq = in_dlq AND state = in_state");
}

static void close_runs(struct list_select *building) {
    put_order(building);
    buf_char(&building->text, ')');
}

/* All conditions of the query except the state and the cursor. */
static void filter_all(struct list_select *building) {
    filter_traits(building);
    filter_texts(building);
    filter_marks(building);
    filter_times(building);
    filter_words(building);
}

enum status list_sql_build(struct list_sql *out, const struct letters_query *query,
                           const struct list_known *known, struct arena *arena, struct err *err) {
    out->value_count = 0;
    struct list_select building = {.sql = out,
                                   .query = query,
                                   .known = known,
                                   .arena = arena,
                                   .err = err,
                                   .by_death = list_page_by_death(query)};
    buf_init_fixed(&building.text, out->text, sizeof out->text);
    buf_str(&building.text, "SELECT seq, dead_ms, envelope, " IS_TAKEN
                            " AS taken, mark, envelope_at, envelope_len");
    add_value(&building, (struct list_value){.text = known->taken});
    enum status status = read_words(&building);
    if (status == STATUS_OK)
        status = list_page_cursor_parse(query, &building.has_cursor, &building.after, err);
    uint32_t states = stored_states(query->states);
    bool one_run = is_one_run(&building, states);
    if (one_run)
        open_run(&building, states);
    else if (building.by_death)
        open_runs(&building, states);
    else
        buf_str(&building.text, " FROM messages WHERE 1");
    filter_all(&building);
    if (!one_run)
        filter_states(&building);
    filter_cursor(&building);
    if (building.by_death && !one_run)
        close_runs(&building);
    put_order(&building);
    buf_cstr(&building.text);
    assert(!building.text.overflow);
    return status;
}

enum status list_sql_build_sum(struct list_sql *out, const struct letters_query *query,
                               const struct list_known *known, struct arena *arena,
                               struct err *err) {
    const struct letters_query any_adopted = {.has_cause = true, .cause = CAUSE_ADOPTED};
    struct filter_signature_wanted adopted = filter_signature_wanted(&any_adopted, 0);
    out->value_count = 0;
    struct list_select building = {
        .sql = out, .query = query, .known = known, .arena = arena, .err = err, .by_death = true};
    buf_init_fixed(&building.text, out->text, sizeof out->text);
    buf_printf(&building.text, "SELECT count(*), max(dead_ms), sum(traits & %lld = %lld)",
               (long long)adopted.mask, (long long)adopted.value);
    /* ?1, which this statement does not use. */
    add_value(&building, (struct list_value){.text = known->taken});
    enum status status = read_words(&building);
    open_all(&building, query->states);
    buf_str(&building.text, " AND messages.dlq = in_dlq AND messages.state = in_state");
    filter_all(&building);
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
