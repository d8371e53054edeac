/* schema: the SQLite file that users may query: its tables, drawn in docs/store.md, and its
 * version.
 *
 * Recipe for a change: raise SCHEMA_VERSION, add the step from the previous version to `steps` in
 * schema.c, never edit a step that was released, and add a file of the old version to the tests. */
#ifndef STORE_EMBEDDED_SQLITE_SCHEMA_H
#define STORE_EMBEDDED_SQLITE_SCHEMA_H

#include <sqlite3.h>

#include "base/status.h"

enum { SCHEMA_VERSION = 7 };

/* Called before the file is changed. FORBIDDEN: it is not a file of impound, or has a newer
 * version. */
enum status schema_check(sqlite3 *db, struct err *err);
/* Creates the tables or migrates them to the current version. */
enum status schema_prepare(sqlite3 *db, struct err *err);

/* For doctor: creates missing tables, indexes and views, empty. */
enum status schema_mend(sqlite3 *db, struct err *err);

#endif
