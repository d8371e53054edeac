/* jq_run: one program on one input through libjq. Lives in the helper process only: a program may
 * take all memory or all time, and then takes the process with it. */
#ifndef JQ_JQ_RUN_H
#define JQ_JQ_RUN_H

#include "base/buf.h"

struct jq_run;

struct jq_run *jq_run_new(void);
void jq_run_free(struct jq_run *run);
/* False: *out has the compiler's text. */
bool jq_run_check(struct jq_run *run, struct bytes program, struct buf *out);
/* True: *out has the first output as JSON, or "null" when there was none, and *truthy says whether
 * it counts as true. What the program left as it was in the input keeps its bytes. False: *out has
 * the error's text. */
bool jq_run_once(struct jq_run *run, struct bytes program, struct bytes input, size_t output_max,
                 struct buf *out, bool *truthy);

#endif
