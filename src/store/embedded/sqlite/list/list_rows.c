#include "store/embedded/sqlite/list/list_rows.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/lifecycle.h"
#include "store/tables/mark.h"
#include "store/tables/list_page.h"
#include "store/embedded/sqlite/fold/fold.h"
#include "store/embedded/sqlite/list/list_sql.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/sqlite/list/time_bounds.h"

enum { LIST_TRIES = 8, ENVELOPE_MAX = 64 << 20, GROWTH_BYTES = 128, SUM_ARENA_CHUNK = 4096 };

/* ---- taken messages ---- */

static void put_seqs(const struct list *entries, struct buf *text) {
    LIST_EACH(node, entries) {
        const struct entry *entry = CONTAINER_OF(node, struct entry, link);
        buf_printf(text, "%s%" PRIu64, text->len > 1 ? "," : "", entry->seq);
    }
}

/* Returns a JSON array of numbers, which SQL can read. Called with the mutex. */
static struct bytes taken_seqs(struct sqlite_store *self, struct arena *arena) {
    size_t count = 0;
    for (size_t i = 0; i < self->front.tables.queue_count; i++)
        count += self->front.tables.queues[i]->waiting.taken_count +
                 self->front.tables.queues[i]->waiting.leased_count;
    size_t size = count * (sizeof "18446744073709551615,") + sizeof "[]";
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, size), size);
    buf_char(&text, '[');
    for (size_t i = 0; i < self->front.tables.queue_count; i++) {
        put_seqs(&self->front.tables.queues[i]->waiting.taken, &text);
        put_seqs(&self->front.tables.queues[i]->waiting.leased, &text);
    }
    buf_char(&text, ']');
    return buf_view(&text);
}

/* ---- rows ---- */

/* Facts about a row in addition to its envelope. */
struct knowledge {
    bool taken;
    struct bytes mark, blocked_by; /* ptr NULL: none */
};

/* Encodes into the arena. An envelope seldom grows by more than the values that are added to it. */
static struct bytes put_envelope(const struct envelope *envelope, size_t guess,
                                 struct arena *arena) {
    struct buf text;
    buf_init_fixed(&text, arena_alloc(arena, guess), guess);
    envelope_store(envelope, &text);
    if (!text.overflow)
        return buf_view(&text);
    buf_init_heap(&text, ENVELOPE_MAX);
    envelope_store(envelope, &text);
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* The current envelope: with its state if taken, with its mark, and with the letter that blocks it.
 */
static struct bytes as_shown(struct bytes stored, const struct knowledge *known,
                             struct mark_memo *memo, struct arena *arena) {
    struct envelope envelope;
    const struct mark *mark = NULL;
    if (known->mark.ptr)
        mark = mark_recall(memo, known->mark, arena);
    if (!stored.ptr || (!known->taken && !known->mark.ptr && !known->blocked_by.ptr) ||
        (known->mark.ptr && !mark) || envelope_restore(stored, arena, &envelope, NULL) != STATUS_OK)
        return stored;
    if (mark)
        mark_apply(mark, &envelope);
    if (known->taken)
        envelope.state = lifecycle_in_flight(envelope.state);
    envelope.blocked_by = known->blocked_by;
    return put_envelope(&envelope,
                        stored.len + known->mark.len + known->blocked_by.len + GROWTH_BYTES, arena);
}

struct row_listing {
    struct packs *packs;
    const struct letters_query *query;
    struct arena *arena;
    struct letters_page *page;
    struct knowledge *known;   /* of each row */
    struct packs_wish *wishes; /* for each row */
};

static void add_row(struct row_listing *listing, sqlite3_stmt *stmt) {
    struct letters_page *page = listing->page;
    struct letters_row *row = &page->rows[page->count];
    struct bytes mark = database_text(stmt, LIST_MARK);
    *row = (struct letters_row){.seq = (uint64_t)sqlite3_column_int64(stmt, LIST_SEQ)};
    listing->known[page->count] =
        (struct knowledge){.mark = mark.ptr ? arena_dup(listing->arena, mark) : BYTES_NONE,
                           .taken = sqlite3_column_int(stmt, LIST_TAKEN) != 0};
    struct packs_wish *wish = &listing->wishes[page->count];
    *wish = (struct packs_wish){.place = {(uint64_t)sqlite3_column_int64(stmt, LIST_AT),
                                          (uint64_t)sqlite3_column_int64(stmt, LIST_LEN)},
                                .owner = {row->seq, PACK_ENVELOPE},
                                .bytes = &row->envelope};
    if (wish->place.at == 0) /* stored before packs were introduced */
        row->envelope = arena_dup(listing->arena, database_text(stmt, LIST_ENVELOPE));
    page->count++;
}

/* Reads one row more than the limit, to find out whether there is a next page. */
static enum status read_rows(struct row_listing *listing, struct database *database,
                             sqlite3_stmt *stmt, struct err *err) {
    struct letters_page *page = listing->page;
    enum status status = STATUS_OK;
    struct list_page_key last = {0};
    page->count = 0;
    page->cursor = BYTES_NONE;
    while (database_next(database, stmt, &status, err)) {
        if (page->count == listing->query->limit) {
            if (page->count > 0)
                page->cursor = list_page_cursor(listing->query, last, listing->arena);
            break;
        }
        last = (struct list_page_key){.seq = (uint64_t)sqlite3_column_int64(stmt, LIST_SEQ),
                                      .dead_ms = sqlite3_column_int64(stmt, LIST_DEAD_MS)};
        add_row(listing, stmt);
    }
    sqlite3_reset(stmt);
    return status;
}

/* Reads the id of a row whose envelope is damaged. */
static enum status read_id(struct row_listing *listing, struct database *database,
                           struct letters_row *row, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    enum status status = STATUS_OK;
    if (sqlite3_prepare_v2(database->db,
                           "SELECT coalesce(letter_id, id) FROM messages WHERE seq = ?1", -1, &stmt,
                           NULL) != SQLITE_OK)
        return database_trouble(database->db, "the id of a damaged letter", err);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)row->seq);
    while (database_next(database, stmt, &status, err))
        row->id = arena_dup(listing->arena, database_text(stmt, 0));
    sqlite3_finalize(stmt);
    return status;
}

/* Reads each record alone, so that a damaged one does not hide the others. */
static enum status read_each(struct row_listing *listing, struct database *database,
                             struct err *err) {
    for (size_t i = 0; i < listing->page->count; i++) {
        struct packs_wish *wish = &listing->wishes[i];
        if (wish->place.at == 0)
            continue;
        enum status status = packs_read_all(listing->packs, wish, 1, listing->arena, err);
        if (status == STATUS_CORRUPT) {
            *wish->bytes = BYTES_NONE;
            status = read_id(listing, database,
                             CONTAINER_OF(wish->bytes, struct letters_row, envelope), err);
        }
        if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status run(struct row_listing *listing, struct database *database, sqlite3_stmt *stmt,
                       struct err *err) {
    enum status status = read_rows(listing, database, stmt, err);
    if (status == STATUS_OK)
        status = packs_read_all(listing->packs, listing->wishes, listing->page->count,
                                listing->arena, err);
    return status == STATUS_CORRUPT ? read_each(listing, database, err) : status;
}

/* A pack may be removed between the read of the rows and the read of the pack; then both are
 * repeated. */
static enum status run_again(struct row_listing *listing, struct database *database,
                             const struct list_sql *sql, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    enum status status = list_sql_prepare(sql, database->db, &stmt, err);
    if (status == STATUS_OK)
        status = run(listing, database, stmt, err);
    for (int tries = 1; status == STATUS_NOT_FOUND && tries < LIST_TRIES; tries++)
        status = run(listing, database, stmt, err);
    sqlite3_finalize(stmt);
    if (status == STATUS_NOT_FOUND)
        status = err_set(err, STATUS_CORRUPT, "a pack that holds letters of the list is missing");
    return status;
}

/* Closed keys are known in memory only. */
static void show_rows(struct sqlite_store *self, struct row_listing *listing) {
    struct letters_page *page = listing->page;
    pthread_mutex_lock(&self->front.mutex);
    for (size_t i = 0; i < page->count; i++)
        listing->known[i].blocked_by =
            tables_blocked_by(&self->front.tables, page->rows[i].seq, listing->arena);
    pthread_mutex_unlock(&self->front.mutex);
    struct mark_memo memo = {0};
    for (size_t i = 0; i < page->count; i++)
        page->rows[i].envelope =
            as_shown(page->rows[i].envelope, &listing->known[i], &memo, listing->arena);
}

static struct row_listing listing_new(struct sqlite_store *self, const struct letters_query *query,
                                      struct arena *arena, struct letters_page *page) {
    size_t most = query->limit + 1;
    page->rows = arena_alloc(arena, most * sizeof *page->rows);
    return (struct row_listing){
        .packs = self->packs,
        .query = query,
        .arena = arena,
        .page = page,
        .known = arena_alloc(arena, most * sizeof(struct knowledge)),
        .wishes = arena_alloc(arena, most * sizeof(struct packs_wish)),
    };
}

/* True if the query selects letters in depth only, which are counted by reason and by fingerprint.
 */
static bool is_in_depth(const struct letters_query *query) {
    const uint32_t in_depth = 1u << STATE_PENDING_REVIEW | 1u << STATE_REPLAYING;
    return query->states != 0 && (query->states & ~in_depth) == 0;
}

/* Sets the reasons that start with the query's prefix, from the counters. False: there are none,
 * and so no letter matches. */
static bool know_reasons(const struct tables *tables, const struct letters_query *query,
                         struct list_known *known) {
    if (query->reason_prefix.len == 0 || !is_in_depth(query))
        return true;
    size_t count =
        dlq_counters_reasons(&tables->dlqs, query->reason_prefix, known->reasons, LIST_REASONS_MAX);
    known->reason_count = count <= LIST_REASONS_MAX ? count : 0;
    return count > 0;
}

struct seeing {
    const struct group_counters *groups;
    uint64_t fingerprint;
    struct list_known *known;
};

static void see_group(struct map_node *node, void *arg) {
    struct seeing *seeing = arg;
    const struct dlq *dlq = CONTAINER_OF(node, struct dlq, node);
    const struct dlq_group *group =
        group_counters_find(seeing->groups, dlq->name, seeing->fingerprint);
    struct list_known *known = seeing->known;
    if (!group)
        return;
    if (known->last.ms == 0 || group->first_seen.ms < known->first.ms)
        known->first = group->first_seen;
    if (group->last_seen.ms > known->last.ms)
        known->last = group->last_seen;
}

/* Sets the time range of a fingerprint from its group, because most letters of a group are of one
 * incident. False: there is no such group. */
static bool know_group(const struct tables *tables, const struct letters_query *query,
                       struct list_known *known) {
    if (!query->has_fingerprint || query->fingerprint == 0 || !is_in_depth(query))
        return true;
    struct seeing seeing = {&tables->groups, query->fingerprint, known};
    map_each(&tables->dlqs.map, see_group, &seeing);
    return known->last.ms != 0;
}

/* False: it is known from memory that no letter matches. */
static bool know(struct sqlite_store *self, const struct letters_query *query, struct arena *arena,
                 struct list_known *out) {
    const struct tables *tables = &self->front.tables;
    pthread_mutex_lock(&self->front.mutex);
    *out = (struct list_known){.queue = tables_queue_known(tables, query->queue),
                               .taken = taken_seqs(self, arena)};
    bool possible = out->queue != TABLES_NO_QUEUE && know_reasons(tables, query, out) &&
                    know_group(tables, query, out);
    pthread_mutex_unlock(&self->front.mutex);
    return possible;
}

static void narrow_to_group(const struct list_known *known, struct letters_query *query) {
    if (known->last.ms == 0)
        return;
    if (known->first.ms > query->since.ms)
        query->since = known->first;
    if (query->until.ms == 0 || known->last.ms < query->until.ms)
        query->until.ms = known->last.ms + 1;
}

/* The same, with the time ranges of the filter signature. */
static bool narrow(struct sqlite_store *self, const struct list_known *known,
                   struct letters_query *query) {
    struct filter_signature_wanted wanted = filter_signature_wanted(query, known->queue);
    if (!list_page_by_death(query))
        return true;
    narrow_to_group(known, query);
    return time_bounds_narrow(self->spread, &wanted, known->reasons, known->reason_count, query);
}

static enum status read_page(struct sqlite_store *self, struct row_listing *listing,
                             const struct list_known *known, bool possible, struct err *err) {
    struct list_sql sql;
    struct letters_query query = *listing->query;
    possible = possible && narrow(self, known, &query);
    enum status status = list_sql_build(&sql, &query, known, listing->arena, err);
    if (status == STATUS_OK && possible)
        status = run_again(listing, self->list_db, &sql, err);
    return status;
}

enum status list_rows_read(struct letters *letters, const struct letters_query *query,
                           struct arena *arena, struct letters_page *out, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct list_known known;
    *out = (struct letters_page){.unlisted = fold_wait(self)};
    bool possible = know(self, query, arena, &known);
    struct row_listing listing = listing_new(self, query, arena, out);
    database_lock(self->list_db);
    enum status status = read_page(self, &listing, &known, possible, err);
    database_unlock(self->list_db);
    if (status == STATUS_OK)
        show_rows(self, &listing);
    return status;
}

/* ---- sums ---- */

static enum status add_sum(struct sqlite_store *self, const struct list_sql *sql, enum state state,
                           struct letters_sum *out, struct err *err) {
    sqlite3_stmt *stmt = NULL;
    enum status status = list_sql_prepare(sql, self->list_db->db, &stmt, err);
    while (status == STATUS_OK && database_next(self->list_db, stmt, &status, err)) {
        int64_t newest = sqlite3_column_int64(stmt, LIST_SUM_NEWEST);
        out->count[state] = (uint64_t)sqlite3_column_int64(stmt, LIST_SUM_COUNT);
        out->adopted += (uint64_t)sqlite3_column_int64(stmt, LIST_SUM_ADOPTED);
        if (newest > out->newest.ms)
            out->newest.ms = newest;
    }
    sqlite3_finalize(stmt);
    return status;
}

static enum status sum_states(struct sqlite_store *self, const struct letters_query *asked,
                              const struct list_known *known, struct arena *arena,
                              struct letters_sum *out, struct err *err) {
    struct letters_query query = *asked;
    bool possible = narrow(self, known, &query);
    enum status status = STATUS_OK;
    for (int state = 0; status == STATUS_OK && possible && state < STATE_COUNT; state++) {
        struct list_sql sql;
        query.states = asked->states & 1u << state;
        if (query.states == 0)
            continue;
        status = list_sql_build_sum(&sql, &query, known, arena, err);
        if (status == STATUS_OK)
            status = add_sum(self, &sql, (enum state)state, out, err);
    }
    return status;
}

enum status list_rows_sum(struct letters *letters, const struct letters_query *query,
                          struct letters_sum *out, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct list_known known;
    struct arena arena;
    enum status status = STATUS_OK;
    arena_init_heap(&arena, SUM_ARENA_CHUNK);
    *out = (struct letters_sum){.newest = WALL_NEVER, .unlisted = fold_wait(self)};
    if (know(self, query, &arena, &known)) {
        database_lock(self->list_db);
        status = sum_states(self, query, &known, &arena, out, err);
        database_unlock(self->list_db);
    }
    arena_free(&arena);
    return status;
}
