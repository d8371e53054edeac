/* jq_exact: passes numbers that a double cannot hold through jq unchanged (SEMANTICS 10.1).
 *
 * jq computes in doubles: 2^53+1 would equal 2^53, and a 20-digit id would be altered. So such
 * numbers go in as strings between two marks, in the input and as literals of the program alike:
 * equal numbers are equal strings, and marks are removed from the output. A prelude of redefined
 * builtins lets the program see them as numbers (type, tostring, tojson …) and makes computing with
 * them an error instead of a wrong result. */
#ifndef JQ_JQ_EXACT_H
#define JQ_JQ_EXACT_H

#include "base/buf.h"

enum { JQ_EXACT_MARK = 16 };

struct jq_exact {
    char mark[JQ_EXACT_MARK + 1]; /* random hex, which no other text contains */
};

void jq_exact_init(struct jq_exact *exact);
/* True: there were such numbers, and *out has the input with marks. */
bool jq_exact_input(const struct jq_exact *exact, struct bytes input, struct buf *out);
/* Appends the program to compile: unchanged, or with marked literals and the prelude in front if it
 * has such literals or the input was marked. */
void jq_exact_program(const struct jq_exact *exact, struct bytes program, bool input_marked,
                      struct buf *out);
/* Appends jq's output without marks. */
void jq_exact_output(const struct jq_exact *exact, struct bytes printed, struct buf *out);
/* Appends jq's error; if it is about a marked number, it names the number and its field. */
void jq_exact_error(const struct jq_exact *exact, struct bytes error, struct bytes input,
                    struct buf *out);

#endif
