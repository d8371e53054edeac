/* query: parses filter words into a letters_query, and writes pages of rows. */
#include "triage/query/query.h"

#include <assert.h>
#include <stdio.h>

#include "base/text/suggest.h"
#include "core/fingerprint.h"
#include "triage/query/jq_filter.h"

#define ENVELOPE_ARENA_CHUNK ((size_t)16 * 1024)
#define COUNT(array)         (sizeof(array) / sizeof((array)[0]))

enum {
    DAMAGED_MAX = 1 << 20,
    NUMBER_SIZE = 24,
    TASK_TYPE_MAX = 64 * 1024, /* bytes */
    WHERE_MAX = 1 << 20,       /* bytes of all programs of a query together */
};

/* ---- one word ---- */

struct filter_value {
    struct bytes word, text;
    struct wall now;
    struct arena *arena;
    struct err *err;
};

static enum status wrong(const struct filter_value *value, const char *expected) {
    return err_set(value->err, STATUS_INVALID, "%.*s: \"%.*s\" is not %s", BYTES_ARG(value->word),
                   BYTES_ARG(value->text), expected);
}

#define WORD_TEXT(code, text) text,
static const char *const state_words[] = {STATE_LIST(WORD_TEXT)};
static const char *const cause_words[] = {CAUSE_LIST(WORD_TEXT)};
#undef WORD_TEXT

/* An unknown word: suggests the nearest, or lists all. */
static enum status not_among(const struct filter_value *value, struct bytes text,
                             const char *const *words, size_t count) {
    const char *nearest = suggest_nearest(text, words, count);
    if (nearest)
        return err_set(value->err, STATUS_INVALID, "%.*s: unknown \"%.*s\"; did you mean \"%s\"?",
                       BYTES_ARG(value->word), BYTES_ARG(text), nearest);
    char memory[256];
    struct buf all;
    buf_init_fixed(&all, memory, sizeof memory);
    for (size_t i = 0; i < count; i++)
        buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
    return err_set(value->err, STATUS_INVALID, "%.*s: unknown \"%.*s\"; expected one of %s",
                   BYTES_ARG(value->word), BYTES_ARG(text), buf_cstr(&all));
}

static enum status set_state(struct query *query, const struct filter_value *value) {
    struct bytes rest = value->text;
    uint32_t states = 0;
    while (rest.len > 0) {
        size_t comma = bytes_find(rest, BYTES(","));
        struct bytes word = bytes_trim(bytes_cut(rest, 0, comma));
        enum state state;
        if (!state_parse(word, &state))
            return not_among(value, word, state_words, COUNT(state_words));
        states |= 1u << state;
        rest = bytes_cut(rest, comma + 1, rest.len);
    }
    query->filter.states |= states;
    return STATUS_OK;
}

static enum status set_cause(struct query *query, const struct filter_value *value) {
    query->filter.has_cause = cause_parse(value->text, &query->filter.cause);
    if (!query->filter.has_cause)
        return not_among(value, value->text, cause_words, COUNT(cause_words));
    return STATUS_OK;
}

static enum status set_fingerprint(struct query *query, const struct filter_value *value) {
    query->filter.has_fingerprint = fingerprint_parse(value->text, &query->filter.fingerprint);
    return query->filter.has_fingerprint ? STATUS_OK
                                         : wrong(value, "a fingerprint (16 hex digits)");
}

static enum status read_time(const struct filter_value *value, struct wall *out) {
    int64_t ago_ms;
    if (wall_parse(value->text, out))
        return STATUS_OK;
    if (!duration_parse(value->text, &ago_ms))
        return wrong(value, "a time (2026-01-31T12:00:00Z) or how long ago (6h)");
    /* 0 would mean "open", so that the earliest time is 1. */
    out->ms = ago_ms < value->now.ms ? value->now.ms - ago_ms : 1;
    return STATUS_OK;
}

static enum status set_since(struct query *query, const struct filter_value *value) {
    return read_time(value, &query->filter.since);
}

static enum status set_until(struct query *query, const struct filter_value *value) {
    return read_time(value, &query->filter.until);
}

static enum status set_min_attempts(struct query *query, const struct filter_value *value) {
    uint64_t number;
    if (!bytes_u64(value->text, &number) || number > UINT32_MAX)
        return wrong(value, "a number of attempts");
    query->filter.min_attempts = (uint32_t)number;
    return STATUS_OK;
}

static enum status set_escalated(struct query *query, const struct filter_value *value) {
    bool yes = bytes_is(value->text, "true");
    if (!yes && !bytes_is(value->text, "false"))
        return wrong(value, "true or false");
    query->filter.escalated = yes ? LETTERS_YES : LETTERS_NO;
    return STATUS_OK;
}

/* Several jq conditions are joined with `and`. */
static void add_where(struct query *query, struct bytes program, struct arena *arena) {
    struct buf both;
    buf_init_heap(&both, WHERE_MAX);
    buf_printf(&both, "(%.*s) and (%.*s)", BYTES_ARG(query->where), BYTES_ARG(program));
    query->where = query->where.len > 0 ? arena_dup(arena, buf_view(&both)) : program;
    buf_free(&both);
}

static enum status set_where(struct query *query, const struct filter_value *value) {
    if (value->text.len > WHERE_MAX / 2)
        return wrong(value, "a program of at most 512 KiB");
    add_where(query, value->text, value->arena);
    return STATUS_OK;
}

/* The store has no column for it, so it becomes a jq filter on the envelopes. */
static enum status set_task_type(struct query *query, const struct filter_value *value) {
    struct buf program;
    if (value->text.len > TASK_TYPE_MAX || !bytes_is_utf8(value->text))
        return wrong(value, "a type of task: UTF-8 of at most 64 KiB");
    buf_init_heap(&program, WHERE_MAX);
    buf_str(&program, ".task.type == ");
    struct json_out json = json_out(&program);
    json_put(&json, value->text);
    add_where(query, arena_dup(value->arena, buf_view(&program)), value->arena);
    buf_free(&program);
    return STATUS_OK;
}

static enum status set_limit(struct query *query, const struct filter_value *value) {
    uint64_t number;
    if (!bytes_u64(value->text, &number) || number == 0)
        return wrong(value, "a number of rows");
    if (number > QUERY_LIMIT_MAX)
        return err_set(value->err, STATUS_INVALID, "limit: %.*s exceeds the maximum of %d rows",
                       BYTES_ARG(value->text), QUERY_LIMIT_MAX);
    query->filter.limit = (size_t)number;
    return STATUS_OK;
}

/* ---- all words ---- */

typedef enum status set_fn(struct query *query, const struct filter_value *value);

/* A word has either a parser, or an offset in struct query where its text is stored. */
struct filter_word {
    const char *name;
    set_fn *set;
    size_t text_at;
};

#define TEXT_AT(member) offsetof(struct query, member)

static const struct filter_word words[] = {
    {"state", set_state, 0},
    {"category", NULL, TEXT_AT(filter.category)},
    {"reason", NULL, TEXT_AT(filter.reason_prefix)},
    {"cause", set_cause, 0},
    {"error_type", NULL, TEXT_AT(filter.error_type)},
    {"fingerprint", set_fingerprint, 0},
    {"since", set_since, 0},
    {"until", set_until, 0},
    {"min_attempts", set_min_attempts, 0},
    {"key", NULL, TEXT_AT(filter.key)},
    {"q", NULL, TEXT_AT(filter.text)},
    {"where", set_where, 0},
    {"task_type", set_task_type, 0},
    {"queue", NULL, TEXT_AT(filter.queue)},
    {"dlq", NULL, TEXT_AT(filter.dlq)},
    {"escalated", set_escalated, 0},
    {"limit", set_limit, 0},
    {"cursor", NULL, TEXT_AT(filter.cursor)},
};

static enum status no_such_word(struct bytes name, struct err *err) {
    const char *names[COUNT(words)];
    for (size_t i = 0; i < COUNT(words); i++)
        names[i] = words[i].name;
    return not_among(&(struct filter_value){.word = BYTES("filter"), .err = err}, name, names,
                     COUNT(words));
}

static const struct filter_word *find_word(struct bytes name) {
    for (size_t i = 0; i < COUNT(words); i++)
        if (bytes_is(name, words[i].name))
            return &words[i];
    return NULL;
}

void query_init(struct query *query, enum query_scope scope) {
    *query =
        (struct query){.filter = {.letters = scope == QUERY_LETTERS, .limit = QUERY_LIMIT_DEFAULT}};
}

enum status query_set(struct query *query, struct bytes name, struct bytes value, struct wall now,
                      struct arena *arena, struct err *err) {
    const struct filter_word *word = find_word(name);
    if (!word)
        return no_such_word(name, err);
    /* An empty variable in a script must not widen the filter to everything. */
    if (value.len == 0 && !bytes_is(name, "cursor"))
        return err_set(err, STATUS_INVALID, "%s: missing value", word->name);
    if (word->set)
        return word->set(query, &(struct filter_value){name, value, now, arena, err});
    *(struct bytes *)(void *)((char *)query + word->text_at) = value;
    return STATUS_OK;
}

void query_finish(struct query *query) {
    if (query->filter.letters && query->filter.states == 0)
        query->filter.states = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING;
}

/* ---- running ---- */

struct query_page {
    const struct query *query;
    struct json_out out;
    struct buf damaged; /* ids of unreadable rows, as JSON strings with commas */
};

/* The id of an unreadable row, or its sequence number if the id cannot be read either. */
static void put_damaged(struct buf *out, const struct letters_row *row) {
    char number[NUMBER_SIZE];
    struct json_out json = json_out(out);
    if (out->len > 0)
        buf_char(out, ',');
    snprintf(number, sizeof number, "%llu", (unsigned long long)row->seq);
    json_put(&json, row->id.len > 0 ? row->id : bytes_of(number));
}

static void put_row(void *arg, const struct letters_row *row) {
    struct query_page *listing = arg;
    struct arena arena;
    struct envelope envelope;
    struct buf text;
    arena_init_heap(&arena, ENVELOPE_ARENA_CHUNK);
    buf_init_heap(&text, listing->out.buf->max);
    if (row->envelope.ptr &&
        envelope_restore(row->envelope, &arena, &envelope, NULL) == STATUS_OK) {
        if (listing->query->complete)
            listing->query->complete(listing->query->arg, &envelope);
        envelope_encode(&envelope, ENVELOPE_ROW, BYTES_NONE, &text);
        json_put_raw(&listing->out, buf_view(&text));
    } else {
        put_damaged(&listing->damaged, row);
    }
    buf_free(&text);
    arena_free(&arena);
}

static enum status list_plain(struct store *store, const struct query *query, struct arena *arena,
                              struct query_page *listing, struct jq_filter_result *result,
                              struct err *err) {
    struct letters_page page;
    enum status status = letters_list(store->letters, &query->filter, arena, &page, err);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < page.count; i++)
        put_row(listing, &page.rows[i]);
    *result = (struct jq_filter_result){.cursor = page.cursor, .behind = page.unlisted};
    return STATUS_OK;
}

static void put_rest(struct json_out *out, const struct jq_filter_result *result) {
    json_key(out, "cursor");
    json_put(out, result->cursor);
    if (result->behind > 0) {
        json_key(out, "behind");
        json_put_i64(out, (int64_t)result->behind);
    }
    if (result->stopped) {
        json_key(out, "looked_at");
        json_put_i64(out, (int64_t)result->looked_at);
    }
    if (result->skipped > 0) {
        json_key(out, "skipped");
        json_put_i64(out, (int64_t)result->skipped);
        json_key(out, "skipped_why");
        json_put_str(out, result->first_skipped.text);
    }
}

static enum status list_rows(struct store *store, struct jq *jq, const struct query *query,
                             struct arena *arena, struct query_page *listing, struct err *err) {
    struct jq_filter_result result;
    enum status status =
        query->where.len ? jq_filter_run(store, jq, query, arena, put_row, listing, &result, err)
                         : list_plain(store, query, arena, listing, &result, err);
    if (status != STATUS_OK)
        return status;
    json_close(&listing->out, ']');
    put_rest(&listing->out, &result);
    if (listing->damaged.len > 0) {
        json_key(&listing->out, "damaged");
        json_open(&listing->out, '[');
        buf_bytes(listing->out.buf, buf_view(&listing->damaged));
        json_close(&listing->out, ']');
    }
    return STATUS_OK;
}

enum status query_run(struct store *store, struct jq *jq, const struct query *query,
                      struct buf *out, struct err *err) {
    assert(query->filter.limit > 0 && (jq || query->where.len == 0));
    size_t before = out->len;
    struct query_page listing = {.query = query, .out = json_out(out)};
    struct arena arena;
    arena_init_heap(&arena, ENVELOPE_ARENA_CHUNK);
    buf_init_heap(&listing.damaged, DAMAGED_MAX);
    json_open(&listing.out, '{');
    json_key(&listing.out, query->filter.letters ? "letters" : "messages");
    json_open(&listing.out, '[');
    enum status status = list_rows(store, jq, query, &arena, &listing, err);
    json_close(&listing.out, '}');
    if (status != STATUS_OK)
        out->len = before;
    buf_free(&listing.damaged);
    arena_free(&arena);
    return status;
}
