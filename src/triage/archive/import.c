/* import: reads lines, and commits the letters in batches with the audit entry. A letter and its
 * original body are in one commit. If a batch is refused, its letters are committed one by one. */
#include "triage/archive/import.h"

#include <assert.h>
#include <stdlib.h>

#include "base/memory.h"
#include "triage/query/audit.h"
#include "triage/archive/frames.h"
#include "triage/query/letter_line.h"

enum { BATCH_LETTERS = 256, LINE_ARENA_CHUNK = 4096, NAMED_BYTES_MAX = 4 * 1024 * 1024 };
#define BATCH_BYTES ((size_t)8 * 1024 * 1024)

struct import_batch {
    uint64_t line;
    struct arena arena;
    struct letter_line letter;
};

struct import_run {
    struct triage *triage;
    struct import_result *result;
    struct audit_entry entry;
    struct import_batch pending[BATCH_LETTERS];
    size_t count, bytes;
    struct err *err;
};

void import_result_free(struct import_result *result) {
    buf_free(&result->changed_list);
    buf_free(&result->refused_list);
}

/* ---- the result ---- */

static void name_line(struct buf *list, uint64_t line, const char *key, struct bytes text,
                      const char *state) {
    struct json_out json = json_out(list);
    json.comma = list->len > 0;
    json_open(&json, '{');
    json_key(&json, "line");
    json_put_i64(&json, (int64_t)line);
    json_key(&json, key);
    json_put(&json, text);
    if (state) {
        json_key(&json, "state");
        json_put_str(&json, state);
    }
    json_close(&json, '}');
}

static void refuse(struct import_run *import, uint64_t line, const char *why) {
    if (import->result->refused++ < IMPORT_NAMED_MAX)
        name_line(&import->result->refused_list, line, "why", bytes_of(why), NULL);
}

/* ---- letters that are held already ---- */

static bool is_same(const struct message *held, const struct letter_line *letter) {
    struct buf a, b;
    buf_init_heap(&a, LETTER_LINE_MAX);
    buf_init_heap(&b, LETTER_LINE_MAX);
    envelope_encode(&held->envelope, ENVELOPE_LINE, held->body, &a);
    envelope_encode(&letter->envelope, ENVELOPE_LINE, letter->body, &b);
    bool same = bytes_eq(buf_view(&a), buf_view(&b));
    buf_free(&a);
    buf_free(&b);
    return same;
}

static void note_present(struct import_run *import, const struct import_batch *pending,
                         const struct message *held) {
    import->result->present++;
    if (is_same(held, &pending->letter))
        return;
    if (import->result->changed++ < IMPORT_NAMED_MAX)
        name_line(&import->result->changed_list, pending->line, "id", held->envelope.letter_id,
                  state_text(held->envelope.state));
}

/* OK: not held. CONFLICT: it is, and has been counted. */
static enum status check_held(struct import_run *import, const struct import_batch *pending) {
    struct store *store = import->triage->store;
    const struct envelope *envelope = &pending->letter.envelope;
    struct message *held = NULL;
    struct err err;
    enum status status =
        letters_get(store->letters, envelope->queue, envelope->letter_id, &held, &err);
    if (status == STATUS_OK) {
        note_present(import, pending, held);
        message_free(held);
        return STATUS_CONFLICT;
    }
    if (status == STATUS_NOT_FOUND)
        status = letters_get(store->letters, envelope->queue, envelope->id, &held, &err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    err_set(&err, STATUS_CONFLICT, "message \"%.*s\" of queue \"%.*s\" is held already: %s",
            BYTES_ARG(bytes_clip(envelope->id, 100)), BYTES_ARG(bytes_clip(envelope->queue, 100)),
            held ? state_text(held->envelope.state) : err.text);
    refuse(import, pending->line, err.text);
    message_free(held);
    return STATUS_CONFLICT;
}

/* ---- commits ---- */

static struct store_op put_op(struct import_run *import, const struct import_batch *pending) {
    struct store *store = import->triage->store;
    return (struct store_op){.kind = STORE_PUT,
                             .queue =
                                 store->vtable->queue_number(store, pending->letter.envelope.queue),
                             .envelope = &pending->letter.envelope,
                             .body = pending->letter.body,
                             .check_id = true};
}

static struct store_op original_op(const struct import_batch *pending) {
    return (struct store_op){.kind = STORE_KEEP,
                             .keep = {.space = SPACE_ORIGINAL,
                                      .name = pending->letter.envelope.letter_id,
                                      .value = pending->letter.original,
                                      .expires = WALL_NEVER}};
}

/* Commits the letters from..to with their originals and the audit entry. */
static enum status commit(struct import_run *import, size_t from, size_t to) {
    assert(from < to && to <= import->count);
    struct store_op *ops = memory_array(2 * (to - from) + 1, sizeof *ops);
    struct arena arena;
    size_t count = 0;
    arena_init_heap(&arena, LINE_ARENA_CHUNK);
    for (size_t i = from; i < to; i++) {
        ops[count++] = put_op(import, &import->pending[i]);
        if (import->pending[i].letter.original.ptr)
            ops[count++] = original_op(&import->pending[i]);
    }
    import->entry.count = import->result->imported + (to - from);
    ops[count++] = audit_op(&import->entry, &arena);
    enum status status = triage_commit(import->triage, ops, count, import->err);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (ops[i].kind == STORE_PUT) {
            import->result->imported += !ops[i].duplicate;
            import->result->present += ops[i].duplicate; /* a duplicate within the batch */
        }
    arena_free(&arena);
    free(ops);
    return status;
}

/* One letter that is refused must not prevent the others. */
static enum status commit_each(struct import_run *import) {
    for (size_t i = 0; i < import->count; i++) {
        enum status status = commit(import, i, i + 1);
        if (status == STATUS_CONFLICT)
            refuse(import, import->pending[i].line, import->err->text);
        else if (status != STATUS_OK)
            return status;
    }
    return STATUS_OK;
}

static enum status flush(struct import_run *import) {
    assert(import->count <= BATCH_LETTERS);
    enum status status = import->count > 0 ? commit(import, 0, import->count) : STATUS_OK;
    if (status == STATUS_CONFLICT)
        status = commit_each(import);
    for (size_t i = 0; i < import->count; i++)
        arena_free(&import->pending[i].arena);
    import->count = import->bytes = 0;
    return status;
}

/* ---- lines ---- */

static enum status take_line(struct import_run *import, struct bytes line) {
    assert(import->count < BATCH_LETTERS);
    if (bytes_trim(line).len == 0)
        return STATUS_OK;
    struct import_batch *pending = &import->pending[import->count];
    struct err why;
    pending->line = ++import->result->lines;
    arena_init_heap(&pending->arena, LINE_ARENA_CHUNK);
    line = arena_dup(&pending->arena, line); /* the frame's buffer is reused */
    if (letter_line_read(line, &pending->arena, &pending->letter, &why) != STATUS_OK) {
        refuse(import, pending->line, why.text);
        arena_free(&pending->arena);
        return STATUS_OK;
    }
    if (check_held(import, pending) != STATUS_OK) {
        arena_free(&pending->arena);
        return STATUS_OK;
    }
    import->bytes += line.len;
    import->count++;
    return import->count == BATCH_LETTERS || import->bytes > BATCH_BYTES ? flush(import)
                                                                         : STATUS_OK;
}

static enum status take_text(struct import_run *import, struct bytes text) {
    enum status status = STATUS_OK;
    for (struct bytes line; status == STATUS_OK && bytes_line(&text, &line);)
        status = take_line(import, line);
    return status;
}

static void take_damage(struct import_run *import, const char *why) {
    struct err err;
    err_set(&err, STATUS_CORRUPT, "a damaged zstd frame: %s", why);
    refuse(import, ++import->result->lines, err.text);
}

static enum status take_frames(struct import_run *import, struct bytes data) {
    struct frames frames;
    struct bytes text;
    const char *why;
    enum status status = STATUS_OK;
    enum frames_step step;
    frames_init(&frames, data);
    while (status == STATUS_OK && (step = frames_next(&frames, &text, &why)) != FRAMES_END) {
        if (step == FRAMES_TEXT)
            status = take_text(import, text);
        else
            take_damage(import, why);
    }
    frames_free(&frames);
    return status;
}

/* The audit entry counts letters before they are committed; this corrects it. */
static enum status close_audit(struct import_run *import) {
    struct arena arena;
    if (import->entry.count == import->result->imported)
        return STATUS_OK;
    arena_init_heap(&arena, LINE_ARENA_CHUNK);
    import->entry.count = import->result->imported;
    struct store_op op = import->entry.count > 0 ? audit_op(&import->entry, &arena)
                                                 : audit_drop(&import->entry, &arena);
    enum status status = triage_commit(import->triage, &op, 1, import->err);
    arena_free(&arena);
    return status;
}

enum status import_run(struct triage *triage, struct bytes data, struct bytes who,
                       struct import_result *result, struct err *err) {
    struct import_run *import = memory_new(sizeof *import);
    *result = (struct import_result){.lines = 0};
    buf_init_heap(&result->changed_list, NAMED_BYTES_MAX);
    buf_init_heap(&result->refused_list, NAMED_BYTES_MAX);
    import->triage = triage;
    import->result = result;
    import->err = err;
    import->entry = (struct audit_entry){.who = who, .what = "import"};
    audit_begin(triage, &import->entry);
    enum status status = frames_begin(data) ? take_frames(import, data) : take_text(import, data);
    enum status flushed = flush(import);
    if (status == STATUS_OK)
        status = flushed;
    if (status == STATUS_OK)
        status = close_audit(import);
    free(import);
    return status;
}
