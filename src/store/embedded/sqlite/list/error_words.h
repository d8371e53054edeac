/* error_words: the full-text search of lists, as an SQL function:
 *
 *   has_words(match, error_id)   1 if the error text with that id matches
 *
 * The first call in a statement queries the full-text index once and keeps the ids as a bitmap; IN
 * would build a table of them, which is several times slower when a million texts match. */
#ifndef STORE_EMBEDDED_SQLITE_ERROR_WORDS_H
#define STORE_EMBEDDED_SQLITE_ERROR_WORDS_H

#include <sqlite3.h>

#include "base/status.h"

enum status error_words_register(sqlite3 *db, struct err *err);

#endif
