/* present: what the store can do while it holds millions of letters. */
#ifndef BENCH_PRESENT_H
#define BENCH_PRESENT_H

#include <stddef.h>
#include <stdint.h>

/* Makes the store of `letters` letters in `dir`, present-<letters>.db, unless it is there from an
 * earlier run. */
void present_make(const char *dir, uint64_t letters);
/* Makes it, and measures. */
void present_run(const char *dir, uint64_t letters, size_t rounds);

#endif
