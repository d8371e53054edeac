#include "app/bench_raw.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { CHUNK = 8 << 20, WARM_BYTES = 8 << 20 };

struct bench_raw {
    char path[PATH_MAX];
    int fd;
    off_t size;
    off_t at, dropped; /* end of the written part; end of the part dropped from the page cache */
};

static enum status trouble(const struct bench_raw *raw, struct err *err) {
    return err_set(err, errno == ENOSPC ? STATUS_FULL : STATUS_IO, "%.250s: %s", raw->path,
                   strerror(errno));
}

static enum status fill(struct bench_raw *raw, struct err *err) {
    char *chunk = memory_new(CHUNK);
    enum status status = STATUS_OK;
    memset(chunk, 'r', CHUNK);
    for (off_t at = 0; at < raw->size && status == STATUS_OK; at += CHUNK)
        if (pwrite(raw->fd, chunk, CHUNK, at) != CHUNK)
            status = trouble(raw, err);
    if (status == STATUS_OK && fsync(raw->fd) != 0)
        status = trouble(raw, err);
    free(chunk);
    return status;
}

enum status bench_raw_new(const char *dir, uint64_t bytes, struct bench_raw **out,
                          struct err *err) {
    struct bench_raw *raw = memory_new(sizeof *raw);
    *out = raw;
    snprintf(raw->path, sizeof raw->path, "%s/raw", dir);
    raw->size = (off_t)bytes;
    raw->fd = open(raw->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    return raw->fd < 0 ? trouble(raw, err) : fill(raw, err);
}

/* Recycled segments of the journal are kept out of the page cache as well. */
static void forget(struct bench_raw *raw) {
    if (raw->at - raw->dropped <= 2 * WARM_BYTES)
        return;
    posix_fadvise(raw->fd, raw->dropped, raw->at - raw->dropped - WARM_BYTES, POSIX_FADV_DONTNEED);
    raw->dropped = raw->at - WARM_BYTES;
}

static bool append(struct bench_raw *raw, const char *bytes, size_t len) {
    if (raw->at + (off_t)len > raw->size)
        raw->at = raw->dropped = 0;
    if (pwrite(raw->fd, bytes, len, raw->at) != (ssize_t)len || fdatasync(raw->fd) != 0)
        return false;
    raw->at += (off_t)len;
    forget(raw);
    return true;
}

enum status bench_raw_run(struct bench_raw *raw, size_t size, size_t group,
                          const struct bench_span *span, double *per_second, struct err *err) {
    char *bytes = memory_new(size * group);
    enum status status = STATUS_OK;
    uint64_t done = 0;
    double begun = bench_span_now();
    for (; status == STATUS_OK && !bench_span_is_over(span, begun, done); done += group) {
        /* The store's letters have to be generated, too. */
        memset(bytes, (int)(done % 251), size * group);
        if (!append(raw, bytes, size * group))
            status = trouble(raw, err);
    }
    *per_second = (double)done / (bench_span_now() - begun);
    free(bytes);
    return status;
}

void bench_raw_free(struct bench_raw *raw) {
    if (!raw)
        return;
    if (raw->fd >= 0) {
        close(raw->fd);
        unlink(raw->path);
    }
    free(raw);
}
