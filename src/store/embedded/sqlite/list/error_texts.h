/* error_texts: each distinct error text is stored once in the SQLite file, with the number of rows
 * that refer to it.
 *
 * Within one transaction each text is looked up once, and its reference count is updated once, by
 * error_texts_flush. */
#ifndef STORE_EMBEDDED_SQLITE_ERROR_TEXTS_H
#define STORE_EMBEDDED_SQLITE_ERROR_TEXTS_H

#include "base/containers/map.h"
#include "core/envelope/envelope.h"
#include "store/embedded/sqlite/database.h"

struct error_texts {
    struct map by_text, by_id;
};

/* Finds the id of the envelope's error text, and adds a reference to it; 0: the envelope has none.
 */
enum status error_texts_add(struct error_texts *texts, struct database *database,
                            const struct envelope *envelope, int64_t *id, struct err *err);
/* Removes a reference to the text with that id (0: no effect). */
void error_texts_drop(struct error_texts *texts, int64_t id);
/* Called before the transaction ends. Deletes texts without references. */
enum status error_texts_flush(struct error_texts *texts, struct database *database,
                              struct err *err);
void error_texts_free(struct error_texts *texts);

#endif
