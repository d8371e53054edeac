/* error_texts: each distinct error text of the SQLite file once, with the number of rows that have
 * it.
 *
 * Within one transaction each text is looked up once, and its number of rows is changed once, by
 * error_texts_flush. */
#ifndef STORE_EMBEDDED_SQLITE_ERROR_TEXTS_H
#define STORE_EMBEDDED_SQLITE_ERROR_TEXTS_H

#include "base/containers/map.h"
#include "core/envelope/envelope.h"
#include "store/embedded/sqlite/database.h"

struct error_texts {
    struct map by_text, by_id;
};

/* The number of the envelope's error text, which has one row more from now on; 0: it has none. */
enum status error_texts_add(struct error_texts *texts, struct database *database,
                            const struct envelope *envelope, int64_t *id, struct err *err);
/* One row less has the text of that number (0: nothing). */
void error_texts_drop(struct error_texts *texts, int64_t id);
/* Before the transaction ends. A text without rows goes. */
enum status error_texts_flush(struct error_texts *texts, struct database *database,
                              struct err *err);
void error_texts_free(struct error_texts *texts);

#endif
