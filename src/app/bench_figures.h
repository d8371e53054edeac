/* bench_figures: the store's durable commits beside what the bare disk can do, in turns, so that a
 * disk that is slow for a moment is slow for both. */
#ifndef APP_BENCH_FIGURES_H
#define APP_BENCH_FIGURES_H

#include <stddef.h>

#include "app/bench_span.h"
#include "base/status.h"

enum {
    BENCH_FIGURES_COUNT = 3,
    BENCH_FIGURES_LETTERS_MAX = 100 * 1000, /* of one figure, however long it may take */
    BENCH_FIGURES_DISK_BYTES = 1 << 30,     /* that all of them may take */
};

struct bench_figure {
    size_t group;       /* letters of a commit */
    double disk, store; /* a second */
};

/* `span`: of each figure. */
enum status bench_figures_take(const char *dir, const struct bench_span *span,
                               struct bench_figure out[BENCH_FIGURES_COUNT], struct err *err);
/* Bytes of a letter. */
size_t bench_figures_letter_bytes(void);

#endif
