/* load_tables: loads the small tables of the SQLite file (queues, counters, ages, groups) into
 * memory, when a store is opened. Every value is checked: CORRUPT, with the table and row in err.
 */
#ifndef STORE_EMBEDDED_SQLITE_LOAD_TABLES_H
#define STORE_EMBEDDED_SQLITE_LOAD_TABLES_H

#include "store/embedded/store_internal.h"

enum status load_tables(struct sqlite_store *self, struct err *err);
/* Checks that the row's queue is in the queues table. */
enum status load_tables_check_queue(const struct tables *tables, uint64_t seq, uint32_t queue,
                                    struct err *err);

#endif
