/* progress: see the header. */
#include "cli/view/progress.h"

#include <assert.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

enum { BAR_WIDTH = 30, BAR_EVERY_MS = 100, LINE_EVERY_MS = 5000, RATE_AFTER_MS = 500 };

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void progress_begin(struct progress *progress, const char *noun, uint64_t total, bool quiet) {
    assert(noun);
    *progress = (struct progress){.noun = noun,
                                  .total = total,
                                  .bar = isatty(STDERR_FILENO) != 0,
                                  .quiet = quiet,
                                  .begun_ms = now_ms(),
                                  .begun_at = UINT64_MAX};
    progress->shown_ms = progress->begun_ms - LINE_EVERY_MS;
}

static void put_left(struct buf *out, double seconds) {
    if (seconds < 90)
        buf_printf(out, "%.0fs left", seconds);
    else if (seconds < 90 * 60.0)
        buf_printf(out, "%.0fm left", seconds / 60);
    else
        buf_printf(out, "%.1fh left", seconds / 3600);
}

static void put_rate(const struct progress *progress, uint64_t done, int64_t now, struct buf *out) {
    int64_t took = now - progress->begun_ms;
    uint64_t since = done - progress->begun_at;
    if (took < RATE_AFTER_MS || since == 0)
        return;
    double rate = (double)since * 1000 / (double)took;
    buf_printf(out, "  %.*f/s  ", rate < 10 ? 1 : 0, rate);
    if (done < progress->total)
        put_left(out, (double)(progress->total - done) / rate);
}

static void put_bar(const struct progress *progress, uint64_t done, struct buf *out) {
    uint64_t full = progress->total ? done * BAR_WIDTH / progress->total : BAR_WIDTH;
    buf_str(out, "\r\x1b[K[");
    for (uint64_t i = 0; i < BAR_WIDTH; i++)
        buf_char(out, i < full ? '#' : '.');
    buf_str(out, "] ");
}

void progress_show(struct progress *progress, uint64_t done, const char *note) {
    assert(progress->noun);
    char memory[512];
    struct buf line;
    int64_t now = now_ms();
    if (progress->begun_at == UINT64_MAX)
        progress->begun_at = done;
    if (progress->quiet ||
        now - progress->shown_ms < (progress->bar ? BAR_EVERY_MS : LINE_EVERY_MS))
        return;
    progress->shown_ms = now;
    buf_init_fixed(&line, memory, sizeof memory);
    if (progress->bar)
        put_bar(progress, done, &line);
    buf_printf(&line, "%llu of %llu %s", (unsigned long long)done,
               (unsigned long long)progress->total, progress->noun);
    put_rate(progress, done, now, &line);
    if (note[0])
        buf_printf(&line, "  %.100s", note);
    fprintf(stderr, "%s%s", buf_cstr(&line), progress->bar ? "" : "\n");
    fflush(stderr);
}

void progress_end(struct progress *progress) {
    if (progress->bar && !progress->quiet)
        fprintf(stderr, "\r\x1b[K");
}
