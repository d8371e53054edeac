#include "store/embedded/sqlite/list/error_words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/sqlite/database.h"

enum { MATCH, ERROR_ID, ARGUMENTS, WORD_BITS = 64, WORDS_FIRST = 1024 };

/* Bit n: the text with id n matches. */
struct text_match {
    uint64_t *words;
    size_t count;
};

static void found_free(void *arg) {
    struct text_match *found = arg;
    free(found->words);
    free(found);
}

static void add(struct text_match *found, uint64_t id) {
    size_t word = id / WORD_BITS;
    if (word >= found->count) {
        size_t count = found->count ? found->count : WORDS_FIRST;
        while (count <= word)
            count *= 2;
        found->words = memory_grow(found->words, count * sizeof *found->words);
        memset(found->words + found->count, 0, (count - found->count) * sizeof *found->words);
        found->count = count;
    }
    found->words[word] |= UINT64_C(1) << id % WORD_BITS;
}

static bool has(const struct text_match *found, uint64_t id) {
    return id / WORD_BITS < found->count &&
           (found->words[id / WORD_BITS] >> id % WORD_BITS & 1) != 0;
}

/* NULL: SQLite has set the error. */
static struct text_match *search(sqlite3 *db, sqlite3_value *match) {
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(db, "SELECT rowid FROM errors_text WHERE errors_text MATCH ?1", -1,
                           &stmt, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_value(stmt, 1, match);
    struct text_match *found = memory_new(sizeof *found);
    int code;
    while ((code = sqlite3_step(stmt)) == SQLITE_ROW)
        add(found, (uint64_t)sqlite3_column_int64(stmt, 0));
    sqlite3_finalize(stmt);
    if (code == SQLITE_DONE)
        return found;
    found_free(found);
    return NULL;
}

/* The result of an earlier call in the same statement; NULL: SQLite has set the error. */
static const struct text_match *found_of(sqlite3_context *context, sqlite3_value *match) {
    struct text_match *found = sqlite3_get_auxdata(context, MATCH);
    if (found)
        return found;
    found = search(sqlite3_context_db_handle(context), match);
    if (!found)
        return NULL;
    sqlite3_set_auxdata(context, MATCH, found, found_free);
    return sqlite3_get_auxdata(context, MATCH); /* SQLite may have discarded it */
}

static void has_words(sqlite3_context *context, int count, sqlite3_value **values) {
    (void)count;
    if (sqlite3_value_type(values[ERROR_ID]) == SQLITE_NULL) {
        sqlite3_result_int(context, 0);
        return;
    }
    const struct text_match *found = found_of(context, values[MATCH]);
    if (found)
        sqlite3_result_int(context, has(found, (uint64_t)sqlite3_value_int64(values[ERROR_ID])));
    else
        sqlite3_result_error(context, sqlite3_errmsg(sqlite3_context_db_handle(context)), -1);
}

enum status error_words_register(sqlite3 *db, struct err *err) {
    if (sqlite3_create_function_v2(db, "has_words", ARGUMENTS, SQLITE_UTF8 | SQLITE_DIRECTONLY,
                                   NULL, has_words, NULL, NULL, NULL) != SQLITE_OK)
        return database_trouble(db, "has_words", err);
    return STATUS_OK;
}
