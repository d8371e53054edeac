#include "store/embedded/sqlite/list/error_texts.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/containers/list.h"
#include "base/memory.h"

enum { ERROR_TEXT_MAX = 4096 };

struct error_text {
    struct map_node by_text, by_id;
    int64_t id;
    int64_t change;    /* of its reference count, in this transaction */
    struct bytes text; /* owned; ptr NULL: only the id is known */
};

static uint64_t id_hash(int64_t id) {
    return (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 16;
}

static struct error_text *find_id(const struct error_texts *texts, int64_t id) {
    for (struct map_node *node = map_first(&texts->by_id, id_hash(id)); node;
         node = map_next(node)) {
        struct error_text *text = CONTAINER_OF(node, struct error_text, by_id);
        if (text->id == id)
            return text;
    }
    return NULL;
}

static struct error_text *find_text(const struct error_texts *texts, struct bytes bytes) {
    for (struct map_node *node = map_first(&texts->by_text, bytes_hash(bytes)); node;
         node = map_next(node)) {
        struct error_text *text = CONTAINER_OF(node, struct error_text, by_text);
        if (bytes_eq(text->text, bytes))
            return text;
    }
    return NULL;
}

static struct error_text *get_id(struct error_texts *texts, int64_t id) {
    struct error_text *text = find_id(texts, id);
    if (text)
        return text;
    text = memory_new(sizeof *text);
    text->id = id;
    map_insert(&texts->by_id, &text->by_id, id_hash(id));
    return text;
}

static void set_text(struct error_texts *texts, struct error_text *text, struct bytes bytes) {
    text->text = (struct bytes){bytes_dup(bytes), bytes.len};
    map_insert(&texts->by_text, &text->by_text, bytes_hash(bytes));
}

static void free_text(struct map_node *node) {
    struct error_text *text = CONTAINER_OF(node, struct error_text, by_id);
    free((char *)text->text.ptr);
    free(text);
}

void error_texts_free(struct error_texts *texts) {
    map_free(&texts->by_text);
    map_drain(&texts->by_id, free_text);
}

/* ---- the file ---- */

static enum status insert(struct database *database, struct bytes text, int64_t *id,
                          struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_ADD);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)bytes_hash(text));
    database_bind_text(stmt, 2, text);
    enum status status = database_step(database, stmt, err);
    if (status != STATUS_OK)
        return status;
    *id = sqlite3_last_insert_rowid(database->db);
    stmt = database_statement(database, SQL_ERROR_TEXT_ADD);
    sqlite3_bind_int64(stmt, 1, *id);
    database_bind_text(stmt, 2, text);
    return database_step(database, stmt, err);
}

static enum status find_or_insert(struct database *database, struct bytes text, int64_t *id,
                                  struct err *err) {
    *id = 0;
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_FIND);
    sqlite3_bind_int64(stmt, 1, (sqlite3_int64)bytes_hash(text));
    database_bind_text(stmt, 2, text);
    enum status status = STATUS_OK;
    while (database_next(database, stmt, &status, err))
        *id = sqlite3_column_int64(stmt, 0);
    if (status != STATUS_OK || *id != 0)
        return status;
    return insert(database, text, id, err);
}

static enum status remove_text(struct database *database, int64_t id, struct bytes text,
                               struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_TEXT_DELETE);
    sqlite3_bind_int64(stmt, 1, id);
    database_bind_text(stmt, 2, text);
    enum status status = database_step(database, stmt, err);
    if (status != STATUS_OK)
        return status;
    stmt = database_statement(database, SQL_ERROR_DELETE);
    sqlite3_bind_int64(stmt, 1, id);
    return database_step(database, stmt, err);
}

static enum status flush(const struct error_text *text, struct database *database,
                         struct err *err) {
    sqlite3_stmt *stmt = database_statement(database, SQL_ERROR_USE);
    sqlite3_bind_int64(stmt, 1, text->id);
    sqlite3_bind_int64(stmt, 2, text->change);
    enum status status = STATUS_OK;
    struct arena arena;
    arena_init_heap(&arena, ERROR_TEXT_MAX);
    struct bytes unused = BYTES_NONE;
    while (database_next(database, stmt, &status, err)) {
        if (sqlite3_column_int64(stmt, 0) <= 0)
            unused = arena_dup(&arena, database_text(stmt, 1));
    }
    if (status == STATUS_OK && unused.ptr)
        status = remove_text(database, text->id, unused, err);
    arena_free(&arena);
    return status;
}

/* ---- rows ---- */

static struct bytes text_of(const struct envelope *envelope, struct buf *scratch) {
    if (!envelope->failed)
        return BYTES_NONE;
    buf_bytes(scratch, envelope->error_type);
    if (envelope->error_type.len > 0 && envelope->error_message.len > 0)
        buf_str(scratch, ": ");
    buf_bytes(scratch, bytes_clip(envelope->error_message, ERROR_TEXT_MAX));
    struct bytes text = buf_view(scratch);
    return text.len > 0 ? text : BYTES_NONE;
}

enum status error_texts_add(struct error_texts *texts, struct database *database,
                            const struct envelope *envelope, int64_t *id, struct err *err) {
    char memory[ERROR_TEXT_MAX + OUTCOME_TYPE_MAX + 2];
    struct buf scratch;
    buf_init_fixed(&scratch, memory, sizeof memory);
    struct bytes bytes = text_of(envelope, &scratch);
    *id = 0;
    if (!bytes.ptr)
        return STATUS_OK;
    struct error_text *text = find_text(texts, bytes);
    if (!text) {
        enum status status = find_or_insert(database, bytes, id, err);
        if (status != STATUS_OK)
            return status;
        text = get_id(texts, *id);
        set_text(texts, text, bytes);
    }
    text->change++;
    *id = text->id;
    return STATUS_OK;
}

void error_texts_drop(struct error_texts *texts, int64_t id) {
    if (id != 0)
        get_id(texts, id)->change--;
}

struct flushing {
    struct database *database;
    enum status status;
    struct err *err;
};

static void flush_changed(struct map_node *node, void *arg) {
    struct flushing *flushing = arg;
    struct error_text *text = CONTAINER_OF(node, struct error_text, by_id);
    if (flushing->status == STATUS_OK && (text->change != 0 || text->text.ptr))
        flushing->status = flush(text, flushing->database, flushing->err);
}

enum status error_texts_flush(struct error_texts *texts, struct database *database,
                              struct err *err) {
    struct flushing flushing = {database, STATUS_OK, err};
    map_each(&texts->by_id, flush_changed, &flushing);
    return flushing.status;
}
