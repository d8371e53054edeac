/* jq_run: one program on one input through libjq. Lives in the helper process only: a program may
 * take all memory or all time, and then takes the process with it. */
#ifndef JQ_JQ_RUN_H
#define JQ_JQ_RUN_H

#include "base/buf.h"

struct jq_run;

/* Keeps so many compiled programs, 1 or more. */
struct jq_run *jq_run_new(size_t kept_max);
void jq_run_free(struct jq_run *run);
/* Compiles what is not compiled yet, and marks the input's numbers; both are borrowed until go.
 * False: *out has the compiler's text. */
bool jq_run_prepare(struct jq_run *run, struct bytes program, struct bytes input, struct buf *out);
/* What was prepared last, once or more often. True: *out has the first output as JSON, or
 * nothing when there was none, and *truthy says whether it counts as true. What the program left as
 * it was in the input keeps its bytes. False: *out has the error's text. */
bool jq_run_go(struct jq_run *run, size_t output_max, struct buf *out, bool *truthy);
/* How many programs had to be compiled until now. */
size_t jq_run_compiled(const struct jq_run *run);

#endif
