/* tempdir: a temporary directory with a unique name, removed recursively (tempdir). */
#ifndef BASE_TEMPDIR_H
#define BASE_TEMPDIR_H

#include <stddef.h>

#include "base/status.h"

/* Creates ABOVE/NAME-XXXXXX; `path` is empty on failure. */
enum status tempdir_make(const char *above, const char *name, char *path, size_t size,
                         struct err *err);
void tempdir_remove(const char *path); /* "": does nothing */

#endif
