#include "store/embedded/reader.h"

#include <stdlib.h>
#include <string.h>

#include "core/lifecycle.h"
#include "base/json/json.h"
#include "base/log.h"
#include "base/memory.h"
#include "store/tables/stored_message.h"
#include "store/embedded/pages/large.h"
#include "store/embedded/pages/paging.h"
#include "store/embedded/sqlite/rows.h"

enum {
    MATCHES_MAX = 64,
    TAKE_MAX = 256,
    /* Total size of bodies in one take, not counting the last one. */
    LOAD_BYTES_MAX = 2 * STORE_TAKE_BYTES_MAX,
    /* A fold may move the bytes between lookup and read. */
    LOAD_TRIES = 8,
    UNREADABLE_WAIT_MS = 1000, /* delay before an unreadable message is read again */
};

/* ---- the bytes of one message ---- */

/* Where the bytes of a message were at the lookup. */
struct location {
    uint64_t seq;
    bool in_memory;  /* true: `state` is set */
    bool unreadable; /* at its last take */
    enum state state;
    struct kept envelope, body;
    struct blob *mark;
    struct blob *blocked_by; /* the letter's id */
    uint64_t envelope_place, body_place;
};

/* Called with the mutex. */
static void locate(const struct entry *entry, struct location *out) {
    *out = (struct location){
        .seq = entry->seq,
        .in_memory = true,
        .state = entry_state(entry),
        .unreadable = entry->unreadable,
        .mark = blob_share(entry->mark),
        .envelope_place = entry->envelope_place,
        .body_place = entry->body_place,
    };
    const struct entry *letter = key_order_blocked_by(entry);
    if (letter)
        out->blocked_by = blob_of(entry_public_id(letter));
    if (entry->envelope.blob)
        blob_keep(&out->envelope, entry->envelope.blob, entry->envelope.bytes);
    if (entry->body.blob)
        blob_keep(&out->body, entry->body.blob, entry->body.bytes);
}

static void location_drop(struct location *location) {
    blob_free(location->mark);
    blob_free(location->blocked_by);
    blob_unkeep(&location->envelope);
    blob_unkeep(&location->body);
}

static enum status read_journal(struct sqlite_store *self, uint64_t place, struct arena *arena,
                                struct journal_record *out, struct err *err) {
    struct journal_window window = {0};
    struct bytes bytes;
    enum status status = self->journal->vtable->read(self->journal, place, &window, &bytes, err);
    char *copy = status == STATUS_OK ? arena_try(arena, bytes.len) : NULL;
    if (status == STATUS_OK && !copy)
        status =
            err_set(err, STATUS_BUSY, "there is no memory for a record of %zu bytes", bytes.len);
    if (status == STATUS_OK && bytes.len > 0)
        memcpy(copy, bytes.ptr, bytes.len);
    if (status == STATUS_OK && !journal_record_decode((struct bytes){copy, bytes.len}, out))
        status = err_set(err, STATUS_CORRUPT, "the journal's record at %llu is not one of ours",
                         (unsigned long long)place);
    journal_window_free(&window);
    return status;
}

static enum status read_file(struct sqlite_store *self, uint64_t seq, struct arena *arena,
                             struct row *out, struct err *err) {
    bool found = false;
    database_lock(self->lookup_db);
    enum status status = rows_read(self->lookup_db, seq, arena, out, &found, err);
    database_unlock(self->lookup_db);
    if (status == STATUS_OK && !found)
        status = err_set(err, STATUS_NOT_FOUND, "message %llu is not held any more",
                         (unsigned long long)seq);
    return status;
}

static enum status read_location(struct sqlite_store *self, const struct location *at,
                                 struct arena *arena, struct row *out, struct err *err) {
    enum status status = STATUS_OK;
    struct journal_record record;
    *out = (struct row){0};
    if ((!at->envelope.blob && at->envelope_place == PLACE_FILE) ||
        (!at->body.blob && at->body_place == PLACE_FILE))
        status = read_file(self, at->seq, arena, out, err);
    if (at->envelope.blob) {
        out->envelope = at->envelope.bytes;
    } else if (status == STATUS_OK && at->envelope_place != PLACE_FILE) {
        status = read_journal(self, at->envelope_place, arena, &record, err);
        out->envelope = record.text;
    }
    if (at->body.blob) {
        out->body = at->body.bytes;
    } else if (status == STATUS_OK && at->body_place != PLACE_FILE) {
        status = read_journal(self, at->body_place, arena, &record, err);
        out->body = record.body;
    }
    return status;
}

static enum status load_once(struct sqlite_store *self, const struct location *at,
                             struct message **out, struct err *err) {
    struct arena arena;
    arena_init_heap(&arena, 4096);
    struct row row;
    enum status status = read_location(self, at, &arena, &row, err);
    struct stored_message_parts parts = {.seq = at->seq,
                                         .envelope = row.envelope,
                                         .body = row.body,
                                         .mark = row.mark,
                                         .memory = self->options.memory,
                                         .state = at->in_memory ? &at->state : NULL};
    if (at->in_memory) /* memory is newer than the stored state */
        parts.mark = at->mark ? (struct bytes){at->mark->data, at->mark->len} : BYTES_NONE;
    if (status == STATUS_OK)
        status = stored_message_new(&parts, out, err);
    char name[LARGE_NAME_SIZE];
    if (status == STATUS_OK && large_is_stub((*out)->body, (*out)->envelope.size, name)) {
        message_uncount_body(*out);
        status = large_read(self->large, name, *out, err);
        if (status == STATUS_OK) {
            message_count_body(*out, self->options.memory);
        } else {
            message_free(*out);
            *out = NULL; /* callers free *out, also after a failure */
        }
    }
    if (status == STATUS_OK && at->blocked_by)
        (*out)->envelope.blocked_by =
            arena_dup(&(*out)->arena, (struct bytes){at->blocked_by->data, at->blocked_by->len});
    arena_free(&arena);
    return status;
}

/* False: the message is not in memory (any more). */
static bool relocate(struct sqlite_store *self, uint64_t seq, struct location *out) {
    pthread_mutex_lock(&self->front.mutex);
    const struct entry *entry = tables_find(&self->front.tables, seq);
    bool held = entry && entry->stage == ENTRY_HELD;
    if (held)
        locate(entry, out);
    pthread_mutex_unlock(&self->front.mutex);
    return held;
}

/* A fold may move the bytes between the lookup and the read; then the lookup is repeated. Takes
 * ownership of `at`. */
static enum status load(struct sqlite_store *self, struct location *at, struct message **out,
                        struct err *err) {
    enum status status = load_once(self, at, out, err);
    for (int tries = 1; status != STATUS_OK && tries < LOAD_TRIES; tries++) {
        uint64_t seq = at->seq;
        location_drop(at);
        if (!relocate(self, seq, at))
            *at = (struct location){
                .seq = seq, .envelope_place = PLACE_FILE, .body_place = PLACE_FILE};
        status = load_once(self, at, out, err);
    }
    location_drop(at);
    return status;
}

/* For a lookup of a single message: a message whose body is damaged, or whose large body's file is
 * missing, is returned without its body. Exports and archives do not accept it in this form,
 * because a repair may still restore the body. */
static enum status load_what_is_left(struct sqlite_store *self, struct location *at,
                                     struct message **out, struct err *err) {
    uint64_t seq = at->seq;
    enum status status = load(self, at, out, err);
    if (status != STATUS_CORRUPT)
        return status;
    struct arena arena;
    struct rows_halves halves;
    struct row row = {0};
    bool found = false;
    arena_init_heap(&arena, 4096);
    database_lock(self->lookup_db);
    rows_read_halves(self->lookup_db, seq, &arena, &halves);
    if (halves.envelope.ptr && (!halves.body.ptr || halves.body.len == LARGE_STUB_LEN))
        found = rows_read_mark(self->lookup_db, seq, &arena, &row.mark) == STATUS_OK;
    database_unlock(self->lookup_db);
    struct stored_message_parts parts = {
        .seq = seq, .envelope = halves.envelope, .body = BYTES(""), .mark = row.mark};
    if (found && stored_message_new(&parts, out, NULL) == STATUS_OK) {
        (*out)->envelope.body_damaged = true;
        status = STATUS_OK;
    }
    arena_free(&arena);
    return status;
}

/* The size in a row is that of the stored bytes, which may be a stub. */
static bool is_small_row(struct sqlite_store *self, uint64_t seq) {
    struct arena arena;
    struct row_facts row;
    bool found = false;
    arena_init_heap(&arena, 1024);
    database_lock(self->lookup_db);
    enum status status = rows_by_seq(self->lookup_db, seq, &arena, &row, &found, NULL);
    database_unlock(self->lookup_db);
    arena_free(&arena);
    return status == STATUS_OK && found && row.envelope.size != LARGE_STUB_LEN;
}

static enum status read_large(struct sqlite_store *self, uint64_t seq, struct reader_large *out,
                              struct err *err) {
    struct location at = {.seq = seq, .envelope_place = PLACE_FILE, .body_place = PLACE_FILE};
    uint64_t smallest = large_smallest(self->large);
    pthread_mutex_lock(&self->front.mutex);
    const struct entry *entry = tables_find(&self->front.tables, seq);
    bool small = entry && entry->facts.size != LARGE_STUB_LEN && entry->facts.size < smallest;
    if (entry && !small)
        locate(entry, &at);
    pthread_mutex_unlock(&self->front.mutex);
    if (!small && !at.body.blob && at.body_place == PLACE_FILE)
        small = is_small_row(self, seq);
    struct arena arena;
    struct row row;
    struct envelope envelope;
    arena_init_heap(&arena, 4096);
    enum status status = small ? STATUS_OK : read_location(self, &at, &arena, &row, err);
    if (status == STATUS_OK && !small && row.body.len == LARGE_STUB_LEN) {
        status = envelope_restore(arena_dup(&arena, row.envelope), &arena, &envelope, err);
        if (status == STATUS_OK && large_is_stub(row.body, envelope.size, out->name)) {
            memcpy(out->content_hash, envelope.content_hash, sizeof out->content_hash);
            out->size = envelope.size;
        }
    }
    location_drop(&at);
    arena_free(&arena);
    return status;
}

enum status reader_large(struct sqlite_store *self, uint64_t seq, struct reader_large *out,
                         struct err *err) {
    enum status status = STATUS_INTERNAL;
    for (int tries = 0; status != STATUS_OK && tries < LOAD_TRIES; tries++) {
        *out = (struct reader_large){.name = ""};
        status = read_large(self, seq, out, err);
    }
    return status;
}

/* ---- taking ---- */

static size_t take_locations(struct sqlite_store *self, uint32_t queue, enum store_take which,
                             struct instant now, struct location *out, size_t max) {
    struct entry *entries[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    struct queue_table *from = tables_queue(&self->front.tables, queue);
    paging_bring(self, from, which, now);
    size_t count =
        ready_queues_take(&from->waiting, which, now, entries, max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        locate(entries[i], &out[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return count;
}

/* Shown in the view of the queue: an unreadable message is not attempted, and with `order: key` it
 * blocks its key. */
static void note_unreadable(struct sqlite_store *self, uint64_t seq, const char *why) {
    pthread_mutex_lock(&self->front.mutex);
    struct entry *entry = tables_find(&self->front.tables, seq);
    if (entry && entry->stage == ENTRY_HELD)
        tables_note_unreadable(&self->front.tables, entry, why);
    pthread_mutex_unlock(&self->front.mutex);
}

/* Unreadable messages are given back, and are retried later. So are messages that follow large
 * bodies beyond the limit: the tables do not have the size of these, because their stubs are small.
 */
static size_t load_taken(struct sqlite_store *self, struct location *locations, size_t count,
                         struct mono again, size_t bytes_max, struct message **out) {
    size_t loaded = 0, bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct err err;
        uint64_t seq = locations[i].seq;
        bool was_unreadable = locations[i].unreadable;
        if (bytes > bytes_max) {
            location_drop(&locations[i]);
            front_give_back(&self->front, seq, again);
            continue;
        }
        if (load(self, &locations[i], &out[loaded], &err) == STATUS_OK) {
            bytes += out[loaded++]->body.len;
            if (was_unreadable)
                note_unreadable(self, seq, NULL);
            continue;
        }
        log_error("message %llu cannot be read: %s", (unsigned long long)seq, err.text);
        note_unreadable(self, seq, err.text);
        front_give_back(&self->front, seq, again);
    }
    return loaded;
}

static struct mono later(struct sqlite_store *self) {
    return mono_after(clock_now(self->options.clock).mono, UNREADABLE_WAIT_MS);
}

size_t reader_take(struct store *store, uint32_t queue, enum store_take which, struct instant now,
                   struct message **out, size_t max) {
    struct sqlite_store *self = store_internal_of(store);
    struct location locations[TAKE_MAX];
    size_t count = take_locations(self, queue, which, now, locations, max);
    size_t most =
        which == TAKE_LEASED ? SIZE_MAX : LOAD_BYTES_MAX; /* a leased message is never given back */
    return load_taken(self, locations, count, mono_after(now.mono, UNREADABLE_WAIT_MS), most, out);
}

size_t reader_take_blocked(struct store *store, uint32_t queue, size_t limit, struct message **out,
                           size_t max) {
    struct sqlite_store *self = store_internal_of(store);
    struct entry *entries[TAKE_MAX];
    struct location locations[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    struct queue_table *from = tables_queue(&self->front.tables, queue);
    size_t count = key_order_take_blocked(&from->lines, &from->waiting, limit, entries,
                                          max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        locate(entries[i], &locations[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return load_taken(self, locations, count, later(self), LOAD_BYTES_MAX, out);
}

size_t reader_take_for_room(struct store *store, uint32_t queue, struct bytes dlq,
                            struct message **out, size_t max) {
    struct sqlite_store *self = store_internal_of(store);
    struct entry *entries[TAKE_MAX];
    struct location locations[TAKE_MAX];
    pthread_mutex_lock(&self->front.mutex);
    struct tables *tables = &self->front.tables;
    size_t count = ready_queues_take_for_room(&tables_queue(tables, queue)->waiting,
                                              name_table_find(&tables->names, dlq), entries,
                                              max < TAKE_MAX ? max : TAKE_MAX);
    for (size_t i = 0; i < count; i++)
        locate(entries[i], &locations[i]);
    pthread_mutex_unlock(&self->front.mutex);
    return load_taken(self, locations, count, later(self), LOAD_BYTES_MAX, out);
}

/* Blocked messages are always in memory. */
static struct message *take_named(struct store *store, uint32_t queue, uint64_t seq, bool any) {
    struct sqlite_store *self = store_internal_of(store);
    struct location at;
    pthread_mutex_lock(&self->front.mutex);
    struct entry *entry = any ? tables_take_any(&self->front.tables, queue, seq) : NULL;
    if (!entry)
        entry = paging_take_one(self, queue, seq, any);
    if (entry)
        locate(entry, &at);
    pthread_mutex_unlock(&self->front.mutex);
    struct message *held = NULL;
    size_t loaded = entry ? load_taken(self, &at, 1, later(self), LOAD_BYTES_MAX, &held) : 0;
    return loaded ? held : NULL;
}

struct message *reader_take_one(struct store *store, uint32_t queue, uint64_t seq) {
    return take_named(store, queue, seq, false);
}

struct message *reader_take_any(struct store *store, uint32_t queue, uint64_t seq) {
    return take_named(store, queue, seq, true);
}

void reader_give_back(struct store *store, struct message *held_take, struct mono due) {
    front_give_back(&store_internal_of(store)->front, held_take->seq, due);
    message_free(held_take);
}

/* ---- by id ---- */

/* The message of a queue that an id refers to. */
struct match {
    uint32_t queue;
    uint64_t seq;
    bool decided;
    struct entry *entry; /* NULL: in the file only */
};

struct found_bytes {
    struct location at;
    struct match matches[MATCHES_MAX]; /* one per queue */
    size_t count;
};

static bool is_meant(const struct match *match, const struct match *other) {
    return match->decided != other->decided ? other->decided : match->seq > other->seq;
}

static void add_match(struct found_bytes *found, const struct match *match) {
    for (size_t i = 0; i < found->count; i++) {
        if (found->matches[i].queue != match->queue)
            continue;
        if (is_meant(match, &found->matches[i]))
            found->matches[i] = *match;
        return;
    }
    if (found->count < MATCHES_MAX)
        found->matches[found->count++] = *match;
}

static void add_memory_matches(struct sqlite_store *self, uint32_t queue, struct bytes id,
                               struct found_bytes *found) {
    struct entry *entries[MATCHES_MAX];
    size_t count = tables_matches(&self->front.tables, queue, id, entries, MATCHES_MAX);
    for (size_t i = 0; i < count; i++)
        add_match(found, &(struct match){.queue = entries[i]->queue,
                                         .seq = entries[i]->seq,
                                         .decided = lifecycle_is_decided(entries[i]->facts.state),
                                         .entry = entries[i]});
}

/* Reads every row with the id. Called without the mutex. */
static enum status read_matches(struct sqlite_store *self, struct bytes id, struct match **rows,
                                size_t *count, struct err *err) {
    enum status status = STATUS_OK;
    *count = 0;
    database_lock(self->lookup_db);
    sqlite3_stmt *stmt = database_statement(self->lookup_db, SQL_MATCHES);
    database_bind_text(stmt, 1, id);
    while (database_next(self->lookup_db, stmt, &status, err)) {
        *rows = memory_grow(*rows, (*count + 1) * sizeof **rows);
        (*rows)[(*count)++] = (struct match){.queue = (uint32_t)sqlite3_column_int64(stmt, 1),
                                             .seq = (uint64_t)sqlite3_column_int64(stmt, 0),
                                             .decided = sqlite3_column_int(stmt, 2) != 0};
    }
    database_unlock(self->lookup_db);
    return status;
}

static enum status ambiguous(struct sqlite_store *self, const struct found_bytes *found,
                             struct bytes id, struct err *err) {
    uint32_t queues[MATCHES_MAX];
    for (size_t i = 0; i < found->count; i++)
        queues[i] = found->matches[i].queue;
    return tables_ambiguous(&self->front.tables, queues, found->count, id, err);
}

/* An entry in memory takes precedence over its row. Called with the mutex. */
static void add_rows(struct sqlite_store *self, uint32_t queue, const struct match *rows,
                     size_t count, struct found_bytes *found) {
    for (size_t i = 0; i < count; i++) {
        if ((queue == TABLES_ANY_QUEUE || queue == rows[i].queue) &&
            !tables_find(&self->front.tables, rows[i].seq))
            add_match(found, &rows[i]);
    }
}

/* Called with the mutex. */
static enum status choose(struct sqlite_store *self, struct bytes id, struct found_bytes *found,
                          struct err *err) {
    if (found->count == 0)
        return err_set(err, STATUS_NOT_FOUND, "\"%.*s\" is not held", BYTES_ARG(id));
    if (found->count > 1)
        return ambiguous(self, found, id, err);
    if (found->matches[0].entry)
        locate(found->matches[0].entry, &found->at);
    else
        found->at = (struct location){
            .seq = found->matches[0].seq, .envelope_place = PLACE_FILE, .body_place = PLACE_FILE};
    return STATUS_OK;
}

enum status reader_get(struct letters *letters, struct bytes queue, struct bytes id,
                       struct message **out, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct found_bytes found = {0};
    struct match *rows = NULL;
    size_t count;
    uint64_t settles;
    enum status status;
    pthread_mutex_lock(&self->front.mutex);
    do {
        settles = self->settles;
        pthread_mutex_unlock(&self->front.mutex);
        status = read_matches(self, id, &rows, &count, err);
        pthread_mutex_lock(&self->front.mutex);
    } while (status == STATUS_OK && settles != self->settles);
    if (status == STATUS_OK) {
        uint32_t number = tables_queue_known(&self->front.tables, queue);
        add_memory_matches(self, number, id, &found);
        add_rows(self, number, rows, count, &found);
        status = choose(self, id, &found, err);
    }
    pthread_mutex_unlock(&self->front.mutex);
    free(rows);
    return status == STATUS_OK ? load_what_is_left(self, &found.at, out, err) : status;
}

/* Writes a JSON array: ids are UTF-8, so SQLite reads them back unchanged. */
static void put_ids(const struct bytes *ids, size_t count, struct buf *out) {
    size_t max = sizeof "[]";
    for (size_t i = 0; i < count; i++)
        max += ids[i].len * sizeof "u0000" + sizeof "\"\",";
    buf_init_heap(out, max);
    struct json_out json = json_out(out);
    json_open(&json, '[');
    for (size_t i = 0; i < count; i++)
        json_put(&json, ids[i]);
    json_close(&json, ']');
}

/* A row with one of the ids that are looked up. */
struct having {
    size_t place; /* index of the id */
    uint64_t seq;
};

struct havings {
    struct having *rows;
    size_t count;
};

/* One statement for all ids: starting a statement costs more than a lookup in the index. Called
 * with the database locked. */
static enum status look_up(struct database *db, uint32_t queue, const struct bytes *ids,
                           size_t count, struct havings *out, struct err *err) {
    enum status status = STATUS_OK;
    struct buf asked;
    put_ids(ids, count, &asked);
    sqlite3_stmt *stmt = database_statement(db, SQL_HAVE_IDS);
    database_bind_text(stmt, 1, buf_view(&asked));
    sqlite3_bind_int64(stmt, 2, queue);
    while (database_next(db, stmt, &status, err)) {
        out->rows = memory_grow(out->rows, (out->count + 1) * sizeof *out->rows);
        out->rows[out->count++] = (struct having){(size_t)sqlite3_column_int64(stmt, 0),
                                                  (uint64_t)sqlite3_column_int64(stmt, 1)};
    }
    buf_free(&asked);
    return status;
}

/* The ids of one batch of a source are mostly adjacent in the index. If the index has no id between
 * the least and the greatest of them, it has none of them, and the single lookups are skipped.
 * Called with the database locked. */
static enum status has_between(struct database *db, const struct bytes *ids, size_t count,
                               bool *out, struct err *err) {
    enum status status = STATUS_OK;
    struct bytes least = ids[0], greatest = ids[0];
    for (size_t i = 1; i < count; i++) {
        least = bytes_cmp(ids[i], least) < 0 ? ids[i] : least;
        greatest = bytes_cmp(ids[i], greatest) > 0 ? ids[i] : greatest;
    }
    sqlite3_stmt *stmt = database_statement(db, SQL_HAVE_BETWEEN);
    database_bind_text(stmt, 1, least);
    database_bind_text(stmt, 2, greatest);
    *out = false;
    while (database_next(db, stmt, &status, err))
        *out = true;
    return status;
}

/* Called without the mutex. */
static enum status read_havings(struct database *db, uint32_t queue, const struct bytes *ids,
                                size_t count, struct havings *out, struct err *err) {
    bool some;
    out->count = 0;
    database_lock(db);
    enum status status = has_between(db, ids, count, &some, err);
    if (status == STATUS_OK && some)
        status = look_up(db, queue, ids, count, out, err);
    database_unlock(db);
    return status;
}

enum status reader_holds(struct letters *letters, uint32_t queue, const struct bytes *ids,
                         size_t count, bool *out, struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct havings havings = {0};
    uint64_t settles;
    enum status status;
    if (count == 0)
        return STATUS_OK;
    pthread_mutex_lock(&self->front.mutex);
    do {
        settles = self->settles;
        pthread_mutex_unlock(&self->front.mutex);
        status = read_havings(self->lookup_db, queue, ids, count, &havings, err);
        pthread_mutex_lock(&self->front.mutex);
    } while (status == STATUS_OK && settles != self->settles);
    for (size_t i = 0; i < count; i++)
        out[i] = tables_holds(&self->front.tables, queue, ids[i]);
    /* An entry in memory takes precedence over its row. */
    for (size_t i = 0; i < havings.count; i++)
        out[havings.rows[i].place] |= !tables_find(&self->front.tables, havings.rows[i].seq);
    pthread_mutex_unlock(&self->front.mutex);
    free(havings.rows);
    return status;
}

enum status reader_get_seq(struct letters *letters, uint64_t seq, struct message **out,
                           struct err *err) {
    struct sqlite_store *self = store_internal_of_letters(letters);
    struct location at = {.seq = seq, .envelope_place = PLACE_FILE, .body_place = PLACE_FILE};
    pthread_mutex_lock(&self->front.mutex);
    const struct entry *entry = tables_find(&self->front.tables, seq);
    bool may_be_held = entry ? entry->stage == ENTRY_HELD : seq < self->front.tables.next_seq;
    if (entry && may_be_held)
        locate(entry, &at);
    pthread_mutex_unlock(&self->front.mutex);
    if (!may_be_held)
        return err_set(err, STATUS_NOT_FOUND, "message %llu is not held any more",
                       (unsigned long long)seq);
    return load(self, &at, out, err);
}
