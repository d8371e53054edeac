/* bench_raw: what the bare disk can do: appends that are durable one by one, over a file that was
 * written before, as the journal's segments were. */
#ifndef APP_BENCH_RAW_H
#define APP_BENCH_RAW_H

#include <stddef.h>

#include "app/bench_span.h"
#include "base/status.h"

struct bench_raw;

/* Writes a file of so many bytes into the folder. */
enum status bench_raw_new(const char *dir, uint64_t bytes, struct bench_raw **out, struct err *err);
/* Things of `size` bytes, `group` of them with each fdatasync: how many a second? */
enum status bench_raw_run(struct bench_raw *raw, size_t size, size_t group,
                          const struct bench_span *span, double *per_second, struct err *err);
void bench_raw_free(struct bench_raw *raw); /* with the file; NULL-safe */

#endif
