/* jq_run: runs one program on one input with libjq. Only in the helper process: a program may use
 * up all memory or time, and then the process is killed. */
#ifndef JQ_JQ_RUN_H
#define JQ_JQ_RUN_H

#include "base/buf.h"

struct jq_run;

/* Caches `kept_max` compiled programs (at least 1). */
struct jq_run *jq_run_new(size_t kept_max);
void jq_run_free(struct jq_run *run);
/* Compiles the program unless it is cached, and marks the input's numbers; both are borrowed until
 * go. False: *out has the compiler's message. */
bool jq_run_prepare(struct jq_run *run, struct bytes program, struct bytes input, struct buf *out);
/* Runs the prepared program. True: *out has the first output as JSON, or nothing if there was none,
 * and *truthy whether it counts as true. Parts of the input that the program did not change keep
 * their bytes. False: *out has the error. */
bool jq_run_go(struct jq_run *run, size_t output_max, struct buf *out, bool *truthy);
/* Number of programs compiled so far. */
size_t jq_run_compiled(const struct jq_run *run);

#endif
