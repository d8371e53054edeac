/* path: builds the URL path of a call, with user input escaped. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include "base/buf.h"

enum { PATH_MAX_LEN = 64 * 1024 };

struct path {
    struct buf text;
    bool asked; /* it has a "?" already */
};

void path_init(struct path *path, const char *start); /* "/v1/queues" */
void path_free(struct path *path);
void path_segment(struct path *path, const char *text); /* "/" and the text, escaped */
/* Nothing when the value is NULL. */
void path_argument(struct path *path, const char *name, const char *value);
const char *path_text(struct path *path);

#endif
