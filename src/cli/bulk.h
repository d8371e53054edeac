/* bulk: NDJSON, pushed as it is read, in requests of bounded size. */
#ifndef CLI_BULK_H
#define CLI_BULK_H

#include <stdio.h>

#include "cli/cli.h"
#include "cli/client.h"

enum {
    BULK_LINES_MAX = 1000,       /* of one request */
    BULK_BYTES_MAX = 1 << 20,    /* of one request; a longer line goes alone */
    BULK_LINE_MAX = 64 * 1 << 20 /* no server takes a longer one */
};

/* Pushes every line of the file. Each request is stored whole or not at all; the first that is
 * refused ends it, with the name of the line and of what was pushed before. Returns the exit code.
 */
int bulk_push(const struct cli_env *env, struct client *client, const char *path, FILE *file,
              const char *name);

#endif
