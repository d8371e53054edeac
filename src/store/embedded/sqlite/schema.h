/* schema: the SQLite file that people query: its tables, drawn in docs/store.md, and its version.
 *
 * Recipe for a change: raise SCHEMA_VERSION, add the step from the version before to `steps` in
 * schema.c, never edit a step that was released, and add a file of the old version to the tests. */
#ifndef STORE_EMBEDDED_SQLITE_SCHEMA_H
#define STORE_EMBEDDED_SQLITE_SCHEMA_H

#include <sqlite3.h>

#include "base/status.h"

enum { SCHEMA_VERSION = 7 };

/* Before anything of the file is changed. FORBIDDEN: it is not ours, or of a newer version. */
enum status schema_check(sqlite3 *db, struct err *err);
/* Creates the tables or brings them up to date. */
enum status schema_prepare(sqlite3 *db, struct err *err);

/* For doctor: tables, indexes and views that are missing are made again, empty. */
enum status schema_mend(sqlite3 *db, struct err *err);

#endif
