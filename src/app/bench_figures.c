#include "app/bench_figures.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "app/bench_burst.h"
#include "app/bench_letters.h"
#include "app/bench_raw.h"
#include "store/disk_posix.h"
#include "store/embedded/sqlite_store.h"

enum {
    RAW_BYTES = 128 << 20,
    /* Letters before the measurement, because the store's first ones create its files. */
    WARM_UP = 50 * 1000,
    WARM_UP_GROUP = 128,
};

/* Largest first: a disk that has just begun to write has not reached its full speed. */
static const struct {
    size_t group, depth;
} kinds[BENCH_FIGURES_COUNT] = {{128, 2}, {16, 2}, {1, 1}};

/* The state that all figures share. */
struct bench_place {
    struct store *store;
    struct bench_raw *raw;
    size_t size;   /* bytes of a letter */
    uint64_t next; /* the next letter's number */
};

size_t bench_figures_letter_bytes(void) {
    struct bench_letters *letters = bench_letters_new();
    size_t size = bench_letters_size(letters);
    free(letters);
    return size;
}

static enum status commit(struct bench_place *bench, size_t group, size_t depth,
                          const struct bench_span *span, double *per_second, struct err *err) {
    struct bench_burst burst = {
        .first = bench->next, .group = group, .depth = depth, .span = *span};
    enum status status = bench_burst_run(bench->store, LETTERS_QUEUE, &burst, per_second, err);
    bench->next += span->count + group;
    if (status == STATUS_OK)
        bench_burst_drain(bench->store, span);
    return status;
}

/* The disk is measured before and after the store. */
static enum status take_one(struct bench_place *bench, size_t depth, const struct bench_span *span,
                            struct bench_figure *figure, struct err *err) {
    struct bench_span half = *span;
    double before = 0, after = 0;
    half.count /= 2;
    half.seconds /= 2;
    enum status status = bench_raw_run(bench->raw, bench->size, figure->group, &half, &before, err);
    if (status == STATUS_OK)
        status = commit(bench, figure->group, depth, span, &figure->store, err);
    if (status == STATUS_OK)
        status = bench_raw_run(bench->raw, bench->size, figure->group, &half, &after, err);
    figure->disk = 2 / (1 / before + 1 / after);
    return status;
}

static enum status open_all(const char *dir, struct bench_place *bench, struct err *err) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/store.db", dir);
    struct sqlite_store_options options = {
        .path = path, .disk = &disk_posix, .clock = &clock_system, .threads = true};
    enum status status = bench_raw_new(dir, RAW_BYTES, &bench->raw, err);
    return status == STATUS_OK ? sqlite_store_open(&options, &bench->store, err) : status;
}

enum status bench_figures_take(const char *dir, const struct bench_span *span,
                               struct bench_figure out[BENCH_FIGURES_COUNT], struct err *err) {
    struct bench_place bench = {.size = bench_figures_letter_bytes(), .next = 1};
    struct bench_span warm_up = {.count = WARM_UP, .stop = span->stop}, bounded = *span;
    double unused;
    if (bounded.count > BENCH_FIGURES_LETTERS_MAX)
        bounded.count = BENCH_FIGURES_LETTERS_MAX;
    enum status status = open_all(dir, &bench, err);
    if (status == STATUS_OK)
        status = commit(&bench, WARM_UP_GROUP, 2, &warm_up, &unused, err);
    for (size_t i = 0; i < BENCH_FIGURES_COUNT && status == STATUS_OK; i++) {
        out[i] = (struct bench_figure){.group = kinds[i].group};
        status = take_one(&bench, kinds[i].depth, &bounded, &out[i], err);
    }
    if (bench.store)
        bench.store->vtable->close(bench.store);
    bench_raw_free(bench.raw);
    return status;
}
