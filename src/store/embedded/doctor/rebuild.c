#include "store/embedded/doctor/rebuild.h"

#include <string.h>

#include "core/lifecycle.h"
#include "port/clock.h"
#include "store/tables/journal_record.h"
#include "store/embedded/pages/packs.h"
#include "store/embedded/sqlite/rows.h"

enum { SCRATCH_BYTES = 4096, ENVELOPE_MAX = 64 << 20 };

/* ---- packs ---- */

static enum status open_pack(struct doctor *doctor, uint64_t number, struct pack **out,
                             struct err *err) {
    struct disk *disk = doctor->options->disk;
    uint64_t size = 0;
    enum status status = pack_open(disk, doctor->journal.dir, number, false, out, err);
    if (status != STATUS_OK)
        return status;
    int error = disk->vtable->size(disk, (*out)->file, &size);
    (*out)->end = size / PACK_BLOCK * PACK_BLOCK;
    if (!error)
        return STATUS_OK;
    pack_free(*out);
    return err_set(err, STATUS_IO, "a pack's size: %s", strerror(error));
}

/* The referenced bytes are counted at the end; until then the pack must not be taken for unused. */
static enum status register_pack(struct doctor *doctor, uint64_t number, struct err *err) {
    struct pack *pack;
    struct err trouble;
    enum status status = open_pack(doctor, number, &pack, &trouble);
    if (status == STATUS_CORRUPT &&
        pack_mend(doctor->options->disk, doctor->journal.dir, number) == STATUS_OK)
        status = open_pack(doctor, number, &pack, &trouble);
    if (status == STATUS_IO)
        return err_set(err, status, "%s", trouble.text);
    if (status != STATUS_OK) {
        buf_printf(doctor->report, "%s; what it held is lost\n", trouble.text);
        return STATUS_OK;
    }
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_PACK_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)number);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)pack->end);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)pack->end);
    pack_free(pack);
    return database_step(&doctor->file, stmt, err);
}

enum status rebuild_register(struct doctor *doctor, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < doctor->files.pack_count; i++)
        status = register_pack(doctor, doctor->files.packs[i], err);
    return status;
}

/* ---- queues ---- */

struct rebuilding {
    struct doctor *doctor;
    enum pack_part part; /* the part that this pass reads */
    uint32_t last_queue; /* the highest queue number in use */
    struct err *err;
    enum status status;
};

static enum status name_queue(struct rebuilding *rebuilding, uint32_t number, struct bytes name) {
    sqlite3_stmt *stmt = database_statement(&rebuilding->doctor->file, SQL_QUEUE_NAME);
    sqlite3_bind_int64(stmt, 1, number);
    database_bind_text(stmt, 2, name);
    return database_step(&rebuilding->doctor->file, stmt, rebuilding->err);
}

/* The journal has the numbers of queues: in records of their names, and in records of their
 * messages. */
static void learn_queue(void *arg, uint64_t position, struct bytes bytes) {
    (void)position;
    struct rebuilding *rebuilding = arg;
    struct journal_record record;
    if (rebuilding->status != STATUS_OK || !journal_record_decode(bytes, &record))
        return;
    if (record.queue > rebuilding->last_queue)
        rebuilding->last_queue = record.queue;
    struct arena arena;
    struct envelope envelope;
    arena_init_heap(&arena, SCRATCH_BYTES);
    if (record.kind == JOURNAL_RECORD_QUEUE_NAME)
        rebuilding->status = name_queue(rebuilding, record.queue, record.text);
    else if ((record.kind == JOURNAL_RECORD_PUT || record.kind == JOURNAL_RECORD_UPDATE) &&
             envelope_restore_facts(record.text, &arena, &envelope, NULL) == STATUS_OK)
        rebuilding->status = name_queue(rebuilding, record.queue, envelope.queue);
    arena_free(&arena);
}

static enum status learn_queues(struct rebuilding *rebuilding) {
    struct doctor *doctor = rebuilding->doctor;
    struct buf nowhere;
    buf_init_fixed(&nowhere, NULL, 0);
    enum status status =
        journal_verify(&doctor->journal, &nowhere, learn_queue, rebuilding, rebuilding->err);
    return status == STATUS_CORRUPT || status == STATUS_OK ? rebuilding->status : status;
}

static enum status queue_number(struct rebuilding *rebuilding, struct bytes name, uint32_t *out) {
    struct database *file = &rebuilding->doctor->file;
    sqlite3_stmt *stmt = database_statement(file, SQL_QUEUE_NUMBER);
    database_bind_text(stmt, 1, name);
    enum status status = STATUS_OK;
    *out = 0;
    while (database_next(file, stmt, &status, rebuilding->err))
        *out = (uint32_t)sqlite3_column_int64(stmt, 0);
    if (status != STATUS_OK || *out != 0)
        return status;
    *out = ++rebuilding->last_queue;
    return name_queue(rebuilding, *out, name);
}

/* ---- envelopes ---- */

struct bytes rebuild_dlq(struct bytes queue, struct arena *arena) {
    static const char ending[] = ".dlq";
    char *text = arena_alloc(arena, queue.len + sizeof ending);
    if (queue.len > 0)
        memcpy(text, queue.ptr, queue.len);
    memcpy(text + queue.len, ending, sizeof ending);
    return (struct bytes){text, queue.len + sizeof ending - 1};
}

/* It is not known any more whether the message succeeded. */
void rebuild_for_people(struct envelope *envelope, struct wall now, const char *reason,
                        struct arena *arena) {
    if (envelope->state == STATE_REPLAYING) {
        lifecycle_recall(envelope);
        return;
    }
    lifecycle_die(envelope, now);
    envelope->dlq = rebuild_dlq(envelope->queue, arena);
    envelope->letter_id = envelope->letter_id.len > 0 ? envelope->letter_id : envelope->id;
    envelope->cause = CAUSE_OPERATOR;
    envelope->category = BYTES("unknown");
    envelope->reason = bytes_of(reason);
    envelope->lease_ms = 0;
}

static enum status write_envelope(struct rebuilding *rebuilding, const struct pack_record *record,
                                  struct envelope *envelope, struct arena *arena) {
    struct doctor *doctor = rebuilding->doctor;
    struct row row = {.seq = record->seq, .envelope = record->bytes};
    enum status status = queue_number(rebuilding, envelope->queue, &row.queue);
    if (status != STATUS_OK)
        return status;
    if (!lifecycle_is_live(envelope->state) && envelope->state != STATE_REPLAYING)
        return rows_adopt(&doctor->file, &doctor->texts, &row, record->place, rebuilding->err);
    rebuild_for_people(envelope, clock_now(doctor->options->clock).wall, "salvaged", arena);
    struct buf text;
    buf_init_heap(&text, ENVELOPE_MAX);
    envelope_store(envelope, &text);
    row.envelope = buf_view(&text);
    status = rows_write(&doctor->file, &doctor->texts, &row, rebuilding->err);
    buf_free(&text);
    return status;
}

static enum status adopt_envelope(struct rebuilding *rebuilding, const struct pack_record *record) {
    struct arena arena;
    struct envelope envelope;
    struct err unread;
    arena_init_heap(&arena, SCRATCH_BYTES);
    enum status status = STATUS_OK;
    if (envelope_restore(record->bytes, &arena, &envelope, &unread) == STATUS_OK)
        status = write_envelope(rebuilding, record, &envelope, &arena);
    else
        buf_printf(rebuilding->doctor->report, "message %llu: %s\n",
                   (unsigned long long)record->seq, unread.text);
    arena_free(&arena);
    return status;
}

static enum status adopt_body(struct rebuilding *rebuilding, const struct pack_record *record) {
    struct database *file = &rebuilding->doctor->file;
    sqlite3_stmt *stmt = database_statement(file, SQL_ROW_BODY_SET);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)record->seq);
    sqlite3_bind_int64(stmt, 2, (sqlite3_int64)record->place.at);
    sqlite3_bind_int64(stmt, 3, (sqlite3_int64)record->place.len);
    return database_step(file, stmt, rebuilding->err);
}

/* ---- passes ---- */

static enum status adopt(void *arg, const struct pack_record *record) {
    struct rebuilding *rebuilding = arg;
    if (record->part != rebuilding->part)
        return STATUS_OK;
    return record->part == PACK_ENVELOPE ? adopt_envelope(rebuilding, record)
                                         : adopt_body(rebuilding, record);
}

enum status rebuild_visit(struct doctor *doctor,
                          enum status (*visit)(void *arg, const struct pack_record *record),
                          void *arg, struct err *err) {
    enum status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < doctor->files.pack_count; i++) {
        struct pack *pack;
        uint64_t lost = 0;
        status = open_pack(doctor, doctor->files.packs[i], &pack, err);
        if (status == STATUS_IO)
            return status;
        if (status != STATUS_OK) { /* already reported */
            status = STATUS_OK;
            continue;
        }
        status = pack_salvage(pack, PACK_BLOCK, pack->end, visit, arg, &lost, err);
        pack_free(pack);
        if (lost > 0 && !doctor->packs_told)
            buf_printf(doctor->report, "pack %016llx: %llu bytes are of no whole record\n",
                       (unsigned long long)doctor->files.packs[i], (unsigned long long)lost);
    }
    doctor->packs_told = true;
    return status;
}

/* Places grow, so the last of several records is the newest. A body may precede its envelope. */
static enum status pass(struct rebuilding *rebuilding, enum pack_part part) {
    rebuilding->part = part;
    return rebuild_visit(rebuilding->doctor, adopt, rebuilding, rebuilding->err);
}

/* The journal may still have their bodies. */
static enum status note_bodiless(struct rebuilding *rebuilding) {
    struct doctor *doctor = rebuilding->doctor;
    sqlite3_stmt *stmt = database_statement(&doctor->file, SQL_BODILESS);
    enum status status = STATUS_OK;
    while (database_next(&doctor->file, stmt, &status, rebuilding->err))
        doctor_note_unreadable(doctor, (uint64_t)sqlite3_column_int64(stmt, 0));
    return status;
}

enum status rebuild_rows(struct doctor *doctor, struct err *err) {
    struct rebuilding rebuilding = {.doctor = doctor, .err = err};
    uint64_t messages = 0, waited = 0;
    enum status status = learn_queues(&rebuilding);
    if (status == STATUS_OK)
        status = pass(&rebuilding, PACK_ENVELOPE);
    if (status == STATUS_OK)
        status = pass(&rebuilding, PACK_BODY);
    if (status == STATUS_OK)
        status = note_bodiless(&rebuilding);
    if (status == STATUS_OK)
        status = doctor_ask(doctor, "SELECT count(*) FROM messages", &messages, err);
    if (status == STATUS_OK)
        status = doctor_ask(doctor, "SELECT count(*) FROM messages WHERE reason = 'salvaged'",
                            &waited, err);
    if (status == STATUS_OK)
        buf_printf(doctor->report,
                   "rebuilt: %llu messages from %zu packs; %llu that may have been waiting are "
                   "letters with reason \"salvaged\" unless the journal knows better; what was "
                   "decided of letters, and texts kept beside them, is lost where the journal does "
                   "not have it\n",
                   (unsigned long long)messages, doctor->files.pack_count,
                   (unsigned long long)waited);
    return status;
}
