/* spill_file: one open file for each DLQ and day, appended to by any thread, synced together
 * (`sync`). A letter counts as spilled only after the sync.
 *
 * After an I/O error a file is closed: the next append opens it again and checks its tail. */
#include "triage/archive/spill_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/containers/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "triage/archive/frames.h"
#include "triage/archive/spill_path.h"
#include "triage/archive/spill_tail.h"

enum { NUMBERS_MAX = 1000, OPEN_MAX = 64 };

struct spill_open {
    struct list link;
    char *first_path; /* path of the file with number 1 */
    int fd;
    off_t size;
    bool unsynced;
};

struct spill_file {
    struct spill spill;
    pthread_mutex_t mutex; /* guards all below */
    char *base_dir;
    ZSTD_CCtx *compressor;
    struct list files; /* newest first */
    size_t file_count;
};

static enum status failed(const char *doing, const char *path, struct err *err) {
    bool full = errno == ENOSPC || errno == EDQUOT;
    return err_set(err, full ? STATUS_FULL : STATUS_IO, "cannot %s %s: %s", doing, path,
                   strerror(errno));
}

/* ---- open files ---- */

static void file_close(struct spill_file *spill, struct spill_open *file) {
    assert(spill->file_count > 0);
    list_remove(&file->link);
    spill->file_count--;
    close(file->fd);
    free(file->first_path);
    free(file);
}

static struct spill_open *find_open(struct spill_file *spill, const char *first_path) {
    LIST_EACH(link, &spill->files) {
        struct spill_open *file = CONTAINER_OF(link, struct spill_open, link);
        if (strcmp(file->first_path, first_path) == 0)
            return file;
    }
    return NULL;
}

static bool check_tail(int fd, off_t size, enum spill_tail *tail, off_t *good) {
    *tail = SPILL_TAIL_WHOLE;
    *good = 0;
    if (size == 0)
        return true;
    void *memory = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    size_t whole;
    *tail = spill_tail_check((struct bytes){memory, (size_t)size}, &whole);
    *good = (off_t)whole;
    munmap(memory, (size_t)size);
    return true;
}

/* Opens the file for appending, after its tail was checked; *fd is -1 if it is damaged and the next
 * number must be used. */
static bool open_one(const char *path, int *fd, off_t *size) {
    struct stat stat;
    enum spill_tail tail;
    *fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (*fd < 0)
        return false;
    bool ok = fstat(*fd, &stat) == 0 && check_tail(*fd, stat.st_size, &tail, size) &&
              (tail != SPILL_TAIL_TORN || ftruncate(*fd, *size) == 0);
    if (ok && tail == SPILL_TAIL_TORN)
        log_warn("spill: removed an incomplete frame from %s at byte %lld", path, (long long)*size);
    if (ok && tail == SPILL_TAIL_DAMAGED)
        log_error("spill: %s is damaged at byte %lld; using a new file", path, (long long)*size);
    if (!ok || tail == SPILL_TAIL_DAMAGED) {
        int why = errno;
        close(*fd);
        errno = why;
        *fd = -1;
    }
    return ok;
}

/* Opens the first numbered file that is not damaged. */
static enum status open_next(struct bytes folder, struct wall now, int *fd, off_t *size,
                             struct err *err) {
    char memory[SPILL_PATH_MAX];
    for (unsigned number = 1; number <= NUMBERS_MAX; number++) {
        struct buf path;
        buf_init_fixed(&path, memory, sizeof memory);
        buf_bytes(&path, folder);
        spill_path_file(now, number, &path);
        if (!open_one(buf_cstr(&path), fd, size))
            return failed("open", buf_cstr(&path), err);
        if (*fd >= 0)
            return STATUS_OK;
    }
    return err_set(err, STATUS_CORRUPT, "%.*s: all %d spill files of the day are damaged",
                   BYTES_ARG(folder), NUMBERS_MAX);
}

/* Closes the least recently opened synced files, so that files of past days do not stay open. */
static void close_old(struct spill_file *spill) {
    for (struct list *link = spill->files.prev;
         spill->file_count >= OPEN_MAX && link != &spill->files;) {
        struct spill_open *file = CONTAINER_OF(link, struct spill_open, link);
        link = link->prev;
        if (!file->unsynced)
            file_close(spill, file);
    }
}

static enum status file_open(struct spill_file *spill, struct bytes folder, const char *first_path,
                             struct wall now, struct spill_open **out, struct err *err) {
    char *name = bytes_dup(folder);
    int fd = -1;
    off_t size = 0;
    enum status status = STATUS_OK;
    if (!spill_path_make(name))
        status = failed("make folder", name, err);
    if (status == STATUS_OK)
        status = open_next(folder, now, &fd, &size, err);
    if (status == STATUS_OK && !spill_path_sync(name)) {
        status = failed("sync folder", name, err);
        close(fd);
    }
    free(name);
    if (status != STATUS_OK)
        return status;
    close_old(spill);
    struct spill_open *file = memory_new(sizeof *file);
    *file =
        (struct spill_open){.first_path = bytes_dup(bytes_of(first_path)), .fd = fd, .size = size};
    list_push_front(&spill->files, &file->link);
    spill->file_count++;
    *out = file;
    return STATUS_OK;
}

static enum status file_for(struct spill_file *spill, struct bytes archive, struct bytes dlq,
                            struct wall now, struct spill_open **out, struct err *err) {
    char memory[SPILL_PATH_MAX];
    struct buf path;
    buf_init_fixed(&path, memory, sizeof memory);
    enum status status = spill_path_folder(bytes_of(spill->base_dir), archive, dlq, &path, err);
    if (status != STATUS_OK)
        return status;
    size_t folder_len = path.len;
    spill_path_file(now, 1, &path);
    const char *first_path = buf_cstr(&path);
    if (path.overflow)
        return err_set(err, STATUS_INVALID, "the path of the archive is too long");
    *out = find_open(spill, first_path);
    if (*out)
        return STATUS_OK;
    return file_open(spill, (struct bytes){path.ptr, folder_len}, first_path, now, out, err);
}

/* ---- appending ---- */

static bool write_all(int fd, const char *from, size_t len) {
    while (len > 0) {
        ssize_t put = write(fd, from, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        from += put;
        len -= (size_t)put;
    }
    return true;
}

static enum status write_frame(struct spill_file *spill, struct spill_open *file, const char *frame,
                               size_t len, struct err *err) {
    assert(file->fd >= 0 && len > 0);
    file->unsynced = true;
    if (write_all(file->fd, frame, len)) {
        file->size += (off_t)len;
        return STATUS_OK;
    }
    enum status status = failed("append to", file->first_path, err);
    if (ftruncate(file->fd, file->size) != 0)
        file_close(spill, file);
    return status;
}

static enum status append(struct spill *port, struct bytes archive, struct bytes dlq,
                          struct wall now, struct bytes line, struct err *err) {
    struct spill_file *spill = CONTAINER_OF(port, struct spill_file, spill);
    struct spill_open *file;
    pthread_mutex_lock(&spill->mutex);
    enum status status = file_for(spill, archive, dlq, now, &file, err);
    if (status == STATUS_OK) {
        struct buf frame;
        buf_init_heap(&frame, SIZE_MAX);
        frames_put(spill->compressor, line, &frame);
        status = write_frame(spill, file, frame.ptr, frame.len, err);
        buf_free(&frame);
    }
    pthread_mutex_unlock(&spill->mutex);
    return status;
}

/* ---- syncing ---- */

/* After a failed sync the kernel may mark the lost pages clean, so the file is closed, and checked
 * when it is opened again. */
static enum status sync_all(struct spill *port, struct err *err) {
    struct spill_file *spill = CONTAINER_OF(port, struct spill_file, spill);
    enum status status = STATUS_OK;
    pthread_mutex_lock(&spill->mutex);
    LIST_EACH_SAFE(link, &spill->files) {
        struct spill_open *file = CONTAINER_OF(link, struct spill_open, link);
        if (!file->unsynced)
            continue;
        file->unsynced = false;
        if (fdatasync(file->fd) != 0) {
            status = failed("sync", file->first_path, err);
            file_close(spill, file);
        }
    }
    pthread_mutex_unlock(&spill->mutex);
    return status;
}

/* ---- create and free ---- */

static void spill_free(struct spill *port) {
    struct spill_file *spill = CONTAINER_OF(port, struct spill_file, spill);
    LIST_EACH_SAFE(link, &spill->files)
    file_close(spill, CONTAINER_OF(link, struct spill_open, link));
    ZSTD_freeCCtx(spill->compressor);
    pthread_mutex_destroy(&spill->mutex);
    free(spill->base_dir);
    free(spill);
}

static const struct spill_vtable vtable = {.append = append, .sync = sync_all, .free = spill_free};

struct spill *spill_file_new(struct bytes base_dir) {
    struct spill_file *spill = memory_new(sizeof *spill);
    spill->spill.vtable = &vtable;
    spill->base_dir = bytes_dup(base_dir);
    spill->compressor = frames_writer_new();
    list_init(&spill->files);
    pthread_mutex_init(&spill->mutex, NULL);
    return &spill->spill;
}
