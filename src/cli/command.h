/* command: the steps that most verbs share: read the options, call the server, show the answer. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/json/json.h"
#include "cli/cli.h"
#include "cli/client.h"

#define COMMAND_ANSWER_MAX ((size_t)256 * 1024 * 1024)

#define COMMAND_COUNT(rows) (sizeof(rows) / sizeof *(rows))

/* Prints the error and the usage, and returns false, if the options are invalid. */
bool command_options(const struct cli_env *env, const struct options_row *rows, int argc,
                     char **argv, size_t least, size_t most, struct options *out);
/* The same for errors that the table of options cannot detect. Returns the exit code. */
__attribute__((format(printf, 3, 4))) int command_usage(const struct cli_env *env, const char *verb,
                                                        const char *format, ...);
/* Refuses a verb on letters without a selection. Returns the exit code. */
int command_unfiltered(const char *verb);
/* Prints "impound: …" on stderr and returns the exit code. */
int command_fail(const struct err *err);
/* Reports on standard error that `count` letters could not be read and were left out; returns the
 * exit code. */
int command_damaged(uint64_t count);
/* Writes to stdout; returns the exit code. */
int command_write(struct bytes text);

/* Formats an answer for people. */
typedef void command_view(const struct cli_env *env, struct json answer, struct arena *arena,
                          struct buf *out);

/* Makes the call and prints its answer, through the view or, with --json, unchanged. */
int command_show(const struct cli_env *env, const struct client_call *call, command_view *view);
/* The same with PATCH. */
int command_patch(const struct cli_env *env, const struct client_call *call, command_view *view);
/* POSTs {"why": …}, or {} without one, and shows the answer. */
int command_post_why(const struct cli_env *env, const char *path, const char *why,
                     command_view *view);
/* Shows the resources at `path`: all, or with an argument the one of that name. */
int command_show_all_or_one(const struct cli_env *env, const struct options *options,
                            const char *path, command_view *all, command_view *one);

#endif
