/* error_words: the full-text search of lists, as a function of SQL:
 *
 *   has_words(match, error_id)   1 when the error text of that number matches
 *
 * The first call of a statement asks the full-text index once and keeps the numbers as bits; IN
 * would make a table of them, which costs several times as much when a million texts match. */
#ifndef STORE_EMBEDDED_SQLITE_ERROR_WORDS_H
#define STORE_EMBEDDED_SQLITE_ERROR_WORDS_H

#include <sqlite3.h>

#include "base/status.h"

enum status error_words_register(sqlite3 *db, struct err *err);

#endif
