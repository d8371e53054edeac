/* bench_raw: the rate of the bare disk: appends that are synced one by one, over a file that was
 * written before, as the journal's recycled segments are. */
#ifndef APP_BENCH_RAW_H
#define APP_BENCH_RAW_H

#include <stddef.h>

#include "app/bench_span.h"
#include "base/status.h"

struct bench_raw;

/* Writes a file of `bytes` bytes into the folder. */
enum status bench_raw_new(const char *dir, uint64_t bytes, struct bench_raw **out, struct err *err);
/* Writes records of `size` bytes, `group` of them per fdatasync; measures records per second. */
enum status bench_raw_run(struct bench_raw *raw, size_t size, size_t group,
                          const struct bench_span *span, double *per_second, struct err *err);
void bench_raw_free(struct bench_raw *raw); /* removes the file as well; NULL-safe */

#endif
