/* jq_exact: numbers that a double cannot hold, carried through jq unharmed (SEMANTICS 10.1).
 *
 * jq computes in doubles: 2^53+1 would equal 2^53, and a 20-digit id would come out as another one.
 * So such numbers go in as strings between two marks, in the input and as literals of the program
 * alike: equal numbers are equal strings, and what comes out is stripped of its marks. A prelude of
 * redefined builtins keeps them numbers to the program (type, tostring, tojson …) and makes
 * computing with them an error instead of a wrong answer. */
#ifndef JQ_JQ_EXACT_H
#define JQ_JQ_EXACT_H

#include "base/buf.h"

enum { JQ_EXACT_MARK = 16 };

struct jq_exact {
    char mark[JQ_EXACT_MARK + 1]; /* random hex: nobody else's text contains it */
};

void jq_exact_init(struct jq_exact *exact);
/* True when there were such numbers; then *out has the input with them marked. */
bool jq_exact_input(const struct jq_exact *exact, struct bytes input, struct buf *out);
/* Appends the program to compile: as it is, or with its literals marked and the prelude before it
 * when it has such literals or the input was marked. */
void jq_exact_program(const struct jq_exact *exact, struct bytes program, bool input_marked,
                      struct buf *out);
/* Appends what jq printed, without marks. */
void jq_exact_output(const struct jq_exact *exact, struct bytes printed, struct buf *out);
/* Appends jq's error; one that is about a marked number names the number and its field. */
void jq_exact_error(const struct jq_exact *exact, struct bytes error, struct bytes input,
                    struct buf *out);

#endif
