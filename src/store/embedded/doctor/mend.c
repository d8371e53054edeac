#include "store/embedded/doctor/mend.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "core/fingerprint.h"
#include "core/lifecycle.h"
#include "port/clock.h"
#include "store/tables/ready/entry.h"
#include "store/tables/mark.h"
#include "store/embedded/sqlite/bounds.h"
#include "store/embedded/pages/large_rows.h"
#include "store/embedded/doctor/mend_tables.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/doctor/rebuild.h"
#include "store/embedded/sqlite/rows.h"
#include "store/embedded/sqlite/rows_verify.h"

enum { SCRATCH_BYTES = 4096, ENVELOPE_MAX = 64 << 20, SEQ_TEXT = 24 };

/* ---- copies in the packs ---- */

/* The places of the newest intact records of a message. */
struct copies {
    uint64_t seq;
    struct pack_place envelope, body;
};

struct mending {
    struct doctor *doctor;
    struct copies *copies; /* sorted by seq */
    size_t count;
    struct large *large;
    uint64_t bodies_lost, envelopes_lost;
    struct err *err;
};

static int by_seq(const void *a, const void *b) {
    uint64_t left = ((const struct copies *)a)->seq, right = ((const struct copies *)b)->seq;
    return (left > right) - (left < right);
}

static enum status note_copy(void *arg, const struct pack_record *record) {
    struct mending *mending = arg;
    struct copies key = {.seq = record->seq};
    struct copies *copies =
        bsearch(&key, mending->copies, mending->count, sizeof *mending->copies, by_seq);
    if (copies && record->part == PACK_ENVELOPE)
        copies->envelope = record->place;
    else if (copies && record->part == PACK_BODY)
        copies->body = record->place;
    return STATUS_OK;
}

/* ---- one message ---- */

struct mended {
    struct arena arena;
    const struct copies *copies;
    struct envelope columns; /* the values of the columns */
    uint32_t queue;          /* 0: no valid queue number */
    struct bytes mark;
    struct envelope envelope;
    bool envelope_found, envelope_is_row; /* the row refers to this envelope */
    struct bytes body;                    /* ptr NULL: lost */
};

static struct bytes text_of(struct mended *message, sqlite3_stmt *stmt, int column) {
    struct bytes text = database_text(stmt, column);
    return text.len > 0 ? arena_dup(&message->arena, text) : BYTES_NONE;
}

static int64_t number_of(sqlite3_stmt *stmt, int column, int64_t least, int64_t most) {
    int64_t value = sqlite3_column_int64(stmt, column);
    return value >= least && value <= most ? value : 0;
}

static struct wall time_of(sqlite3_stmt *stmt, int column) {
    return (struct wall){number_of(stmt, column, -BOUNDS_NUMBER_MAX, BOUNDS_NUMBER_MAX)};
}

/* Each column is checked alone: a damaged one is left out, and the others are used. */
static void read_columns(struct mended *message, sqlite3_stmt *stmt) {
    struct envelope *out = &message->columns;
    *out = (struct envelope){
        .id = text_of(message, stmt, 1),
        .letter_id = text_of(message, stmt, 2),
        .dlq = text_of(message, stmt, 3),
        .category = text_of(message, stmt, 6),
        .reason = text_of(message, stmt, 7),
        .error_type = text_of(message, stmt, 8),
        .key = text_of(message, stmt, 10),
        .attempts = (uint32_t)number_of(stmt, 11, 0, UINT32_MAX),
        .created_at = time_of(stmt, 12),
        .dead_at = time_of(stmt, 13),
        .escalated_at = time_of(stmt, 15),
        .closes_key = sqlite3_column_int(stmt, 16) != 0,
        .source = BYTES("{\"kind\":\"unknown\"}"),
        .retry_after_ms = -1,
    };
    message->queue = (uint32_t)number_of(stmt, 0, 1, BOUNDS_QUEUES_MAX);
    if (!state_parse(database_text(stmt, 4), &out->state))
        out->state = out->dlq.len > 0 ? STATE_PENDING_REVIEW : STATE_QUEUED;
    if (!cause_parse(database_text(stmt, 5), &out->cause))
        out->cause = CAUSE_OPERATOR;
    struct bytes error = text_of(message, stmt, 18);
    out->failed = fingerprint_parse(database_text(stmt, 9), &out->fingerprint) || error.len > 0;
    out->error_message = error;
    message->mark = text_of(message, stmt, 17);
    out->queue = text_of(message, stmt, 19);
}

static enum status read_row(struct mending *mending, struct mended *message, bool *found) {
    struct database *file = &mending->doctor->file;
    sqlite3_stmt *stmt = database_statement(file, SQL_ROW_COLUMNS);
    enum status status = STATUS_OK;
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)message->copies->seq);
    *found = database_next(file, stmt, &status, mending->err);
    if (*found)
        read_columns(message, stmt);
    sqlite3_reset(stmt);
    return status;
}

/* The row's own envelope and body if they are intact, otherwise the newest copies in the packs. */
static void read_bytes(struct mending *mending, struct mended *message) {
    struct database *file = &mending->doctor->file;
    uint64_t seq = message->copies->seq;
    struct rows_halves halves;
    rows_read_halves(file, seq, &message->arena, &halves);
    message->envelope_is_row =
        halves.envelope.ptr &&
        envelope_restore(halves.envelope, &message->arena, &message->envelope, NULL) == STATUS_OK;
    message->envelope_found = message->envelope_is_row;
    struct bytes copy;
    if (!message->envelope_found && message->copies->envelope.at != 0 &&
        packs_read(mending->doctor->packs, message->copies->envelope,
                   (struct pack_owner){seq, PACK_ENVELOPE}, &message->arena, &copy,
                   NULL) == STATUS_OK)
        message->envelope_found =
            envelope_restore(copy, &message->arena, &message->envelope, NULL) == STATUS_OK;
    message->body = halves.body;
    if (!message->body.ptr && message->copies->body.at != 0 &&
        packs_read(mending->doctor->packs, message->copies->body,
                   (struct pack_owner){seq, PACK_BODY}, &message->arena, &copy, NULL) == STATUS_OK)
        message->body = copy;
}

/* A large body is lost if its file is missing. A damaged file is renamed and kept. */
static void check_large_body(struct mending *mending, struct mended *message) {
    const struct envelope *envelope = &message->envelope;
    char name[LARGE_NAME_SIZE];
    if (!message->body.ptr || !large_is_stub(message->body, envelope->size, name) ||
        large_check(mending->large, name, envelope->size, envelope->content_hash, NULL) ==
            STATUS_OK)
        return;
    large_set_aside(mending->large, name);
    message->body = BYTES_NONE;
}

/* An older version of the envelope has the members that never change; the columns have the current
 * values of the others. */
static void compose(struct mended *message) {
    const struct envelope *columns = &message->columns;
    struct envelope *out = &message->envelope;
    if (message->envelope_is_row)
        return;
    if (!message->envelope_found) {
        *out = *columns;
        out->size = large_stub_size(message->body);
    }
    out->id = columns->id.len > 0 ? columns->id : out->id;
    out->state = columns->state;
    out->letter_id = columns->letter_id.len > 0 ? columns->letter_id : out->letter_id;
    out->dlq = columns->dlq.len > 0 ? columns->dlq : out->dlq;
    out->cause = columns->cause;
    out->category = columns->category;
    out->reason = columns->reason;
    out->attempts = columns->attempts;
    out->dead_at = columns->dead_at;
    out->closes_key = columns->closes_key;
    out->why = BYTES("its envelope was damaged: this is what the store's columns and an older copy "
                     "of it say");
}

/* A message that would run again without its headers or its body is made a letter, for review. */
static bool is_for_people(const struct mended *message) {
    enum state state = message->envelope.state;
    bool whole = message->envelope_is_row && message->body.ptr;
    return !whole && (lifecycle_is_live(state) || state == STATE_REPLAYING);
}

static void finish(struct mending *mending, struct mended *message) {
    struct envelope *envelope = &message->envelope;
    struct bytes dropped = message->mark;
    struct envelope probe = *envelope;
    if (mark_read(message->mark, &message->arena, &probe, NULL) != STATUS_OK)
        message->mark = BYTES_NONE;
    if (dropped.ptr && !message->mark.ptr)
        envelope->state = message->columns.state;
    if (is_for_people(message)) {
        rebuild_for_people(envelope, clock_now(mending->doctor->options->clock).wall,
                           message->body.ptr ? "salvaged" : "body_damaged", &message->arena);
        message->mark = BYTES_NONE;
    }
    if (lifecycle_is_letter(envelope->state) && envelope->letter_id.len == 0)
        envelope->letter_id = envelope->id;
    if (lifecycle_is_letter(envelope->state) && envelope->dlq.len == 0)
        envelope->dlq = rebuild_dlq(envelope->queue, &message->arena);
    if (!message->body.ptr) {
        envelope->body_damaged = true;
        message->body = BYTES("");
    }
}

static void tell(struct mending *mending, const struct mended *message, bool body_lost) {
    struct buf *report = mending->doctor->report;
    unsigned long long seq = message->copies->seq;
    mending->bodies_lost += body_lost;
    mending->envelopes_lost += !message->envelope_is_row;
    if (!message->envelope_is_row)
        buf_printf(report, "message %llu: its envelope is lost; made again from %s\n", seq,
                   message->envelope_found ? "an older copy and the row's columns"
                                           : "the row's columns");
    if (body_lost)
        buf_printf(report, "message %llu: its body is lost; the rest of it is kept\n", seq);
}

static enum status write(struct mending *mending, struct mended *message) {
    struct doctor *doctor = mending->doctor;
    struct row row = {.seq = message->copies->seq, .mark = message->mark, .body = message->body};
    enum status status = mend_tables_queue(doctor, message->envelope.queue, message->queue,
                                           &row.queue, mending->err);
    struct buf text;
    buf_init_heap(&text, ENVELOPE_MAX);
    envelope_store(&message->envelope, &text);
    row.envelope = buf_view(&text);
    if (status == STATUS_OK) /* an update of an existing row does not set every column */
        status = rows_delete(&doctor->file, &doctor->texts, &row.seq, 1, mending->err);
    if (status == STATUS_OK)
        status = rows_write(&doctor->file, &doctor->texts, &row, mending->err);
    buf_free(&text);
    return status;
}

static enum status mend(struct mending *mending, const struct copies *copies) {
    struct mended message = {.copies = copies};
    bool found = false;
    arena_init_heap(&message.arena, SCRATCH_BYTES);
    enum status status = read_row(mending, &message, &found);
    if (status == STATUS_OK && found) {
        read_bytes(mending, &message);
        compose(&message);
        check_large_body(mending, &message);
        bool body_lost = !message.body.ptr;
        if (message.envelope.id.len > 0 && message.envelope.queue.len > 0 &&
            copies->seq < BOUNDS_SEQ_MAX) {
            finish(mending, &message);
            tell(mending, &message, body_lost);
            status = write(mending, &message);
        } else {
            buf_printf(mending->doctor->report, "message %llu: no file names its queue; lost\n",
                       (unsigned long long)copies->seq);
            mending->doctor->lost++;
            status = rows_delete(&mending->doctor->file, &mending->doctor->texts, &copies->seq, 1,
                                 mending->err);
        }
    }
    arena_free(&message.arena);
    return status;
}

/* ---- all ---- */

/* Rows that came from the journal have the queue number of the journal. */
static enum status note_queueless(struct doctor *doctor, struct err *err) {
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_QUEUELESS);
    enum status status = STATUS_OK;
    while (database_next(&doctor->file, stmt, &status, err))
        doctor_note_unreadable(doctor, (uint64_t)sqlite3_column_int64(stmt, 0));
    return status;
}

static void add(struct mending *mending, uint64_t seq) {
    mending->copies = memory_grow(mending->copies, (mending->count + 1) * sizeof *mending->copies);
    mending->copies[mending->count++] = (struct copies){.seq = seq};
}

static void add_bodiless(void *arg, uint64_t seq, const struct reader_large *found) {
    struct mending *mending = arg;
    if (large_check(mending->large, found->name, found->size, found->content_hash, NULL) !=
        STATUS_OK)
        add(mending, seq);
}

/* Keeps one of each, sorted by seq. */
static void drop_doubles(struct mending *mending) {
    size_t kept = 0;
    for (size_t i = 0; i < mending->count; i++) {
        if (kept == 0 || mending->copies[kept - 1].seq != mending->copies[i].seq)
            mending->copies[kept++] = mending->copies[i];
    }
    mending->count = kept;
}

static enum status add_damaged(struct mending *mending) {
    struct doctor *doctor = mending->doctor;
    struct err err;
    for (size_t i = 0; i < doctor->unreadable_count; i++) {
        if (rows_verify_one(&doctor->file, doctor->unreadable[i], &err) != STATUS_OK)
            add(mending, doctor->unreadable[i]);
    }
    enum status status = large_rows_each(&doctor->file, add_bodiless, mending, mending->err);
    if (mending->count > 0)
        qsort(mending->copies, mending->count, sizeof *mending->copies, by_seq);
    drop_doubles(mending);
    return status;
}

enum status mend_rows(struct doctor *doctor, struct err *err) {
    struct mending mending = {.doctor = doctor, .err = err};
    mending.large = large_new(doctor->options->disk, doctor->options->path, 0);
    enum status status = packs_flush(doctor->packs, &doctor->file, err);
    if (status == STATUS_OK)
        status = note_queueless(doctor, err);
    if (status == STATUS_OK)
        status = add_damaged(&mending);
    if (status == STATUS_OK && mending.count > 0)
        status = rebuild_visit(doctor, note_copy, &mending, err);
    for (size_t i = 0; status == STATUS_OK && i < mending.count; i++)
        status = mend(&mending, &mending.copies[i]);
    doctor->bodies_lost = mending.bodies_lost;
    doctor->envelopes_lost = mending.envelopes_lost;
    large_free(mending.large);
    free(mending.copies);
    return status;
}
