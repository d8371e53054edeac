/* folder: one for a while: made under a name that nobody has, and taken away with all in it. */
#ifndef BASE_FOLDER_H
#define BASE_FOLDER_H

#include <stddef.h>

#include "base/status.h"

/* ABOVE/NAME-XXXXXX; `path` is empty when there is none. */
enum status folder_make(const char *above, const char *name, char *path, size_t size,
                        struct err *err);
void folder_remove(const char *path); /* "": nothing */

#endif
