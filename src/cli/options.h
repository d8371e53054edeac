/* options: parses the command line of a verb by a table.
 *
 * "--name value" and "--name=value", "-c value" where a row has a letter; "--" ends the options,
 * and options may come between the arguments. A lone "-" is an argument. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stddef.h>

#include "base/status.h"

struct options_row {
    const char *name;  /* without its dashes */
    const char *value; /* its value, such as "FILE"; NULL: a switch */
    const char *help;  /* one line */
    char letter;       /* "-c"; 0: none */
};

struct options_given {
    const struct options_row *row;
    const char *value; /* "" for a switch */
};

struct options {
    struct options_given *given; /* in the order of the command line */
    size_t given_count;
    const char **args;
    size_t arg_count;
};

extern const struct options_row options_global[]; /* --url, --json, --help */

/* USAGE: an unknown option (with a "did you mean"), a missing or superfluous value, too few or too
 * many arguments. argv[0] is skipped. Borrows argv. Free *out in any case. */
enum status options_parse(const struct options_row *rows, int argc, char **argv, size_t least,
                          size_t most, struct options *out, struct err *err);
void options_free(struct options *options);
/* The last value given; NULL: the option was not given. */
const char *options_get(const struct options *options, const char *name);
bool options_has(const struct options *options, const char *name);

/* Moves the global options from argv, anywhere before "--", into *out; returns the new argc, or -1
 * if a value is missing (USAGE in *err). Free *out in any case. Values of the verb's own options
 * are not touched. */
int options_take_global(const struct options_row *rows, int argc, char **argv, struct options *out,
                        struct err *err);

#endif
