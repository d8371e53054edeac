/* bulk: pushes NDJSON while reading it, in requests of bounded size. */
#ifndef CLI_COMMANDS_BULK_H
#define CLI_COMMANDS_BULK_H

#include <stdio.h>

#include "cli/cli.h"
#include "cli/client.h"

enum {
    BULK_LINES_MAX = 1000,       /* of one request */
    BULK_BYTES_MAX = 1 << 20,    /* of one request; a longer line is sent alone */
    BULK_LINE_MAX = 64 * 1 << 20 /* longer lines are refused by every server */
};

/* Pushes every line of the file. Each request is stored as a whole or not at all; the first one
 * refused ends it, with the number of the line and the count of messages pushed before. Returns the
 * exit code. */
int bulk_push(const struct cli_env *env, struct client *client, const char *path, FILE *file,
              const char *name);

#endif
