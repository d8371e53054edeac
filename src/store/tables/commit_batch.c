#include "store/tables/commit_batch.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "core/lifecycle.h"
#include "store/tables/op_record.h"

enum { SCRATCH_MAX = 64 << 20 };

struct commit_batch *commit_batch_new(struct store_commit *commit) {
    struct commit_batch *batch = memory_new(sizeof *batch + commit->count * sizeof batch->ops[0]);
    batch->commit = commit;
    batch->count = commit->count;
    struct buf scratch;
    buf_init_heap(&scratch, SCRATCH_MAX);
    for (size_t i = 0; i < commit->count; i++) {
        batch->ops[i].kind = commit->ops[i].kind;
        batch->ops[i].record = op_record(&commit->ops[i], &scratch);
        if (!batch->ops[i].record) {
            batch->count = i;
            commit_batch_free(batch);
            batch = NULL;
            err_set(&commit->err, STATUS_BUSY, "there is no memory for the commit");
            break;
        }
    }
    buf_free(&scratch);
    return batch;
}

void commit_batch_free(struct commit_batch *batch) {
    for (size_t i = 0; i < batch->count; i++) {
        blob_free(batch->ops[i].record);
        entry_facts_free(&batch->ops[i].facts);
        entry_free(batch->ops[i].fresh);
    }
    for (size_t i = 0; i < batch->name_count; i++)
        blob_free(batch->names[i]);
    free(batch->names);
    for (size_t i = 0; i < batch->large_count; i++)
        free(batch->large[i].body);
    free(batch->large);
    free(batch);
}

/* ---- preparing ---- */

void commit_batch_prepare(struct commit_batch *batch, struct tables *tables) {
    for (size_t i = 0; i < batch->count; i++) {
        const struct store_op *op = &batch->commit->ops[i];
        struct commit_batch_op *staged = &batch->ops[i];
        /* Running and retrying are never stored: they are derived for messages that are taken. */
        if (op->envelope)
            assert(op->envelope->state != STATE_RUNNING && op->envelope->state != STATE_RETRYING);
        if (op->kind != STORE_KEEP || op->queue != 0)
            staged->queue = tables_queue(tables, op->queue);
        if (op->kind == STORE_PUT)
            staged->fresh = entry_new(0, op->queue, op->envelope, &tables->names);
        if (op->kind == STORE_UPDATE)
            entry_facts(op->envelope, &tables->names, &staged->facts);
        if (op->kind == STORE_FORGET)
            staged->spilled = name_table_get(&tables->names, op->spilled_dlq);
    }
}

static bool is_free(const struct store_op *op, const struct entry *entry) {
    return op->decided_are_free && entry->stage == ENTRY_HELD &&
           lifecycle_is_decided(entry->facts.state);
}

bool commit_batch_wants(const struct commit_batch *batch, size_t place, const struct tables *tables,
                        uint64_t *seq, struct bytes *id) {
    const struct store_op *op = &batch->commit->ops[place];
    bool changes = op->kind == STORE_UPDATE || op->kind == STORE_FORGET || op->kind == STORE_MARK;
    *seq = changes ? op->seq : 0;
    if (changes)
        return op->seq != 0 && !tables_find(tables, op->seq);
    if (op->kind != STORE_PUT || !op->check_id)
        return false;
    *id = batch->ops[place].fresh->id;
    const struct entry *held = tables_find_id(tables, op->queue, *id);
    return !held || is_free(op, held);
}

/* ---- staging ---- */

struct staging {
    struct commit_batch *batch;
    struct tables *tables;
    const struct commit_batch_hooks *hooks;
    struct err *err;
};

static void count_record(struct commit_batch *batch, const struct blob *record) {
    batch->records++;
    batch->bytes += record->len;
}

static void name_queue(struct staging *staging, struct queue_table *queue) {
    struct commit_batch *batch = staging->batch;
    if (queue->durable)
        return;
    for (size_t i = 0; i < batch->name_count; i++) {
        struct journal_record known;
        if (journal_record_decode((struct bytes){batch->names[i]->data, batch->names[i]->len},
                                  &known) &&
            known.queue == queue->number)
            return;
    }
    batch->names = memory_grow(batch->names, (batch->name_count + 1) * sizeof(struct blob *));
    batch->names[batch->name_count++] = journal_record_encode(&(struct journal_record){
        .kind = JOURNAL_RECORD_QUEUE_NAME, .queue = queue->number, .text = queue->name->text});
    count_record(batch, batch->names[batch->name_count - 1]);
}

/* The status of a duplicate depends on the pending PUT of its id: both succeed or both fail. */
static void lean_on(struct commit_batch *batch, uint64_t ticket) {
    if (batch->leans_first == 0 || ticket < batch->leans_first)
        batch->leans_first = ticket;
    if (ticket > batch->leans_last)
        batch->leans_last = ticket;
}

/* NULL: the id is free. */
static struct entry *find_held(const struct staging *staging, const struct store_op *op,
                               struct bytes id) {
    struct entry *held = tables_find_id(staging->tables, op->queue, id);
    return held && (held->stage == ENTRY_FORGOTTEN || is_free(op, held)) ? NULL : held;
}

static enum status stage_duplicate(struct staging *staging, struct commit_batch_op *staged,
                                   struct store_op *op, struct entry *held) {
    if (!entry_same_content(held, staged->fresh->content_mark))
        return err_set(staging->err, STATUS_CONFLICT, "id \"%.*s\" is held with another body",
                       BYTES_ARG(held->id));
    op->duplicate = true;
    op->seq = held->seq;
    if (held->stage == ENTRY_RESERVED && held->ticket != staging->batch->ticket)
        lean_on(staging->batch, held->ticket);
    blob_free(staged->record);
    staged->record = NULL;
    return STATUS_OK;
}

static enum status stage_put(struct staging *staging, struct commit_batch_op *staged,
                             struct store_op *op) {
    op->duplicate = false;
    struct entry *held = op->check_id ? find_held(staging, op, staged->fresh->id) : NULL;
    if (held) {
        enum status status = stage_duplicate(staging, staged, op, held);
        staging->hooks->released(staging->hooks->arg, held);
        return status;
    }
    op->seq = staging->tables->next_seq;
    journal_record_set_seq(staged->record, op->seq);
    staged->entry = staged->fresh;
    staged->fresh = NULL;
    staged->entry->seq = op->seq;
    staged->entry->ticket = staging->batch->ticket;
    tables_reserve(staging->tables, staged->entry);
    return STATUS_OK;
}

/* The message is in none of the states that the op is for, or another commit is changing it, or it
 * is taken. */
static bool is_left_alone(const struct store_op *op, const struct entry *entry) {
    return op->from != 0 && (!entry || entry->stage != ENTRY_HELD || entry->pins > 0 ||
                             entry_is_taken(entry) || !(op->from >> entry->facts.state & 1u));
}

/* Pins the entry that the op changes. Sets no entry and no record if the op is skipped. */
static enum status stage_change(struct staging *staging, struct commit_batch_op *staged,
                                struct store_op *op, enum state to) {
    struct entry *entry = tables_find(staging->tables, op->seq);
    enum status status = STATUS_OK;
    op->skipped = is_left_alone(op, entry);
    if (op->skipped) {
        blob_free(staged->record);
        staged->record = NULL;
    } else if (!entry || entry->stage != ENTRY_HELD) {
        status = err_set(staging->err, STATUS_NOT_FOUND, "message %llu is not held any more",
                         (unsigned long long)op->seq);
    } else if (op->kind != STORE_FORGET && !lifecycle_allows(entry->facts.state, to)) {
        status = err_set(staging->err, STATUS_CONFLICT, "\"%.*s\" is %s and cannot become %s",
                         BYTES_ARG(entry->id), state_text(entry->facts.state), state_text(to));
    } else {
        staged->entry = entry;
        entry->pins++;
        return STATUS_OK;
    }
    if (entry)
        staging->hooks->released(staging->hooks->arg, entry);
    return status;
}

static enum status stage_update(struct staging *staging, struct commit_batch_op *staged,
                                struct store_op *op) {
    return stage_change(staging, staged, op, staged->facts.state);
}

static enum status stage_mark(struct staging *staging, struct commit_batch_op *staged,
                              struct store_op *op) {
    return stage_change(staging, staged, op, op->mark.state);
}

static enum status stage_forget(struct staging *staging, struct commit_batch_op *staged,
                                struct store_op *op) {
    enum status status = STATUS_OK;
    if (op->seq != 0)
        status = stage_change(staging, staged, op, STATE_RESOLVED);
    if (!staged->record)
        staged->spilled = NULL;
    return status;
}

static enum status stage_nothing(struct staging *staging, struct commit_batch_op *staged,
                                 struct store_op *op) {
    (void)staging;
    (void)staged;
    (void)op;
    return STATUS_OK;
}

static enum status stage_op(struct staging *staging, size_t place) {
    static enum status (*const stage[])(struct staging *, struct commit_batch_op *,
                                        struct store_op *) = {
        [STORE_PUT] = stage_put,       [STORE_UPDATE] = stage_update, [STORE_FORGET] = stage_forget,
        [STORE_QUEUE] = stage_nothing, [STORE_MARK] = stage_mark,     [STORE_KEEP] = stage_nothing,
    };
    struct commit_batch_op *staged = &staging->batch->ops[place];
    struct store_op *op = &staging->batch->commit->ops[place];
    enum status status = stage[op->kind](staging, staged, op);
    if (status == STATUS_OK && staged->record) {
        if (staged->queue)
            name_queue(staging, staged->queue);
        count_record(staging->batch, staged->record);
    }
    return status;
}

enum status commit_batch_stage(struct commit_batch *batch, uint64_t ticket, struct tables *tables,
                               const struct commit_batch_hooks *hooks) {
    batch->ticket = ticket;
    struct staging staging = {
        .batch = batch, .tables = tables, .hooks = hooks, .err = &batch->commit->err};
    for (size_t i = 0; i < batch->count; i++) {
        enum status status = stage_op(&staging, i);
        if (status != STATUS_OK) {
            batch->commit->refused = i;
            commit_batch_undo(batch, tables, hooks);
            return status;
        }
    }
    return STATUS_OK;
}

void commit_batch_undo(struct commit_batch *batch, struct tables *tables,
                       const struct commit_batch_hooks *hooks) {
    for (size_t i = 0; i < batch->count; i++) {
        struct commit_batch_op *op = &batch->ops[i];
        if (!op->entry)
            continue;
        if (op->kind == STORE_PUT) {
            tables_drop(tables, op->entry);
        } else {
            op->entry->pins--;
            hooks->released(hooks->arg, op->entry);
        }
        op->entry = NULL;
    }
}

/* ---- applying ---- */

static struct bytes bytes_of_blob(const struct blob *blob) {
    return (struct bytes){blob->data, blob->len};
}

void commit_batch_records(const struct commit_batch *batch, struct bytes *out) {
    for (size_t i = 0; i < batch->name_count; i++)
        *out++ = bytes_of_blob(batch->names[i]);
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->ops[i].record)
            *out++ = bytes_of_blob(batch->ops[i].record);
    }
}

/* An op that ends a message or decides about it in an ordered queue may unblock a key. */
bool commit_batch_op_wakes(const struct commit_batch_op *op) {
    bool changes = op->kind == STORE_PUT || op->kind == STORE_UPDATE;
    bool opens = op->kind == STORE_FORGET || op->kind == STORE_MARK;
    return op->record && (changes || (opens && op->queue->order == ORDER_KEY));
}

struct applying {
    struct tables *tables;
    const struct commit_batch_hooks *hooks;
    const struct instant *now;
};

static void keep_bytes(const struct applying *applying, struct commit_batch_op *op,
                       const struct journal_record *record, uint64_t position) {
    blob_keep(&op->entry->envelope, op->record, record->text);
    if (record->body.ptr)
        blob_keep(&op->entry->body, op->record, record->body);
    applying->hooks->changed(applying->hooks->arg, op->entry, position, record->body.ptr != NULL);
}

static void apply_change(const struct applying *applying, struct commit_batch_op *op,
                         const struct journal_record *record, uint64_t position) {
    op->entry->pins--;
    if (op->entry->stage == ENTRY_FORGOTTEN) {
        applying->hooks->released(applying->hooks->arg, op->entry);
        return;
    }
    tables_change(applying->tables, op->entry, &op->facts, applying->now);
    keep_bytes(applying, op, record, position);
}

static void apply_forget(const struct applying *applying, struct commit_batch_op *op) {
    if (op->spilled)
        dlq_counters_spilled(&applying->tables->dlqs, op->spilled);
    if (!op->entry)
        return;
    op->entry->pins--;
    if (op->entry->stage == ENTRY_HELD)
        tables_forget(applying->tables, op->entry);
    applying->hooks->released(applying->hooks->arg, op->entry);
}

static void apply_mark(const struct applying *applying, struct commit_batch_op *op,
                       const struct journal_record *record) {
    op->entry->pins--;
    if (op->entry->stage == ENTRY_HELD) {
        bool known = tables_mark(applying->tables, op->entry, record->text, applying->now);
        assert(known);
        applying->hooks->marked(applying->hooks->arg, op->entry);
    }
    applying->hooks->released(applying->hooks->arg, op->entry);
}

static void apply_keep(const struct applying *applying, struct commit_batch_op *op,
                       const struct journal_record *record) {
    struct notes_decoded decoded;
    bool known = notes_decode(record, &decoded);
    assert(known);
    notes_set(&applying->tables->keeps, record->queue, &decoded.keep, op->record);
}

static void apply_op(const struct applying *applying, struct commit_batch_op *op,
                     uint64_t position) {
    struct journal_record record;
    bool known = journal_record_decode(bytes_of_blob(op->record), &record);
    assert(known);
    switch (op->kind) {
    case STORE_PUT:
        tables_hold(applying->tables, op->entry, applying->now);
        keep_bytes(applying, op, &record, position);
        break;
    case STORE_UPDATE:
        apply_change(applying, op, &record, position);
        break;
    case STORE_FORGET:
        apply_forget(applying, op);
        break;
    case STORE_QUEUE:
        tables_queue_facts(op->queue, record.text);
        break;
    case STORE_MARK:
        apply_mark(applying, op, &record);
        break;
    case STORE_KEEP:
        apply_keep(applying, op, &record);
        break;
    }
}

static void note_queue(struct queue_table *queue) {
    queue->changed |= !queue->durable;
    queue->durable = true;
}

void commit_batch_apply(struct commit_batch *batch, struct tables *tables,
                        const struct commit_batch_hooks *hooks, const uint64_t *positions,
                        const struct instant *now) {
    struct applying applying = {.tables = tables, .hooks = hooks, .now = now};
    size_t place = batch->name_count;
    for (size_t i = 0; i < batch->count; i++) {
        struct commit_batch_op *op = &batch->ops[i];
        if (!op->record)
            continue;
        if (op->queue)
            note_queue(op->queue);
        apply_op(&applying, op, positions ? positions[place] : PLACE_NONE);
        place++;
    }
}
