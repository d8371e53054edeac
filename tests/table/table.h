/* table: policy cases as data. A case is three lines: what it shows, what is given, what is wanted.
 * Blank lines and lines that begin with # stand between cases.
 *
 *     a full jitter begins above nothing
 *     full base=200ms attempt=1
 *     1ms..200ms
 */
#ifndef TABLE_H
#define TABLE_H

#include "base/buf.h"

struct table_case {
    struct bytes title, given, wanted;
};

/* Appends what the code under test says to `given`, in the notation of `wanted`. It may look at
 * `wanted` only to learn which details are asked for. */
typedef void table_answer(const struct table_case *c, struct buf *actual);

/* Runs every case of the file; returns main's exit code. Fewer than `at_least` cases is a failure:
 * a table that was not read must not pass. */
int table_run(const char *path, size_t at_least, table_answer *answer);

/* Cuts the next word off: `key`, `key=value` or `key="value with spaces"`. */
bool table_word(struct bytes *rest, struct bytes *key, struct bytes *value);
/* Values; a malformed one ends the program, naming it. */
int64_t table_number(struct bytes text);
int64_t table_duration(struct bytes text);
/* Splits at the first `at`; false when there is none. */
bool table_split(struct bytes text, char at, struct bytes *left, struct bytes *right);
_Noreturn void table_bad(const char *what, struct bytes text);

#endif
