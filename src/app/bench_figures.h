/* bench_figures: the rate of the store's durable commits and of the bare disk, measured
 * alternately, so that a disk that is slow for a moment slows both. */
#ifndef APP_BENCH_FIGURES_H
#define APP_BENCH_FIGURES_H

#include <stddef.h>

#include "app/bench_span.h"
#include "base/status.h"

enum {
    BENCH_FIGURES_COUNT = 3,
    BENCH_FIGURES_LETTERS_MAX = 100 * 1000, /* limit of one figure, whatever its time */
    BENCH_FIGURES_DISK_BYTES = 1 << 30,     /* limit of all figures together */
};

struct bench_figure {
    size_t group;       /* letters per commit */
    double disk, store; /* per second */
};

/* `span`: the time for each figure. */
enum status bench_figures_take(const char *dir, const struct bench_span *span,
                               struct bench_figure out[BENCH_FIGURES_COUNT], struct err *err);
/* Bytes of a letter. */
size_t bench_figures_letter_bytes(void);

#endif
