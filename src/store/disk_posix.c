/* Writes of whole pages use direct I/O, if the file system supports it: an fsync has less to write
 * then, and a journal that fills the page cache slows down every write by a large factor. Other
 * writes go through the page cache, and synced data is dropped from the cache at some distance
 * behind the writer. */
#include "store/disk_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"

enum {
    WARM_BYTES = 8 << 20, /* stay in the page cache behind the writer, for reads */
    DROP_STEP_BYTES = 1 << 20,
    BEGIN_BYTES = 1 << 20, /* a read or write of this size gets advice to the kernel */
    FILE_MODE = 0600,      /* messages may be confidential */
    DIR_MODE = 0700,
};

enum { NOT_ASKED = -1, REFUSED = -2 };

struct disk_file {
    int fd;
    int direct;       /* a descriptor of the same file with O_DIRECT; or NOT_ASKED, REFUSED */
    uint64_t written; /* end of the latest write */
    uint64_t dropped; /* data before this offset was dropped from the page cache */
};

static int make_dir(struct disk *disk, const char *path) {
    (void)disk;
    return mkdir(path, DIR_MODE) == 0 || errno == EEXIST ? 0 : errno;
}

static int open_file(struct disk *disk, const char *path, int create, struct disk_file **out) {
    (void)disk;
    int fd = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), FILE_MODE);
    if (fd < 0)
        return errno;
    *out = memory_new(sizeof **out);
    (*out)->fd = fd;
    (*out)->direct = NOT_ASKED;
    return 0;
}

static void close_file(struct disk *disk, struct disk_file *file) {
    (void)disk;
    if (file->direct >= 0)
        close(file->direct);
    close(file->fd);
    free(file);
}

static int size(struct disk *disk, struct disk_file *file, uint64_t *out) {
    (void)disk;
    struct stat stat;
    if (fstat(file->fd, &stat) != 0)
        return errno;
    *out = (uint64_t)stat.st_size;
    return 0;
}

/* A read of this size is part of a sequential scan, and its data is not read again. Advice to the
 * kernel only. */
static void pass_by(const struct disk_file *file, uint64_t at, uint64_t len, int advice) {
    if (len >= BEGIN_BYTES)
        (void)posix_fadvise(file->fd, (off_t)at, (off_t)len, advice);
}

static int read_fully(const struct disk_file *file, uint64_t at, char *next, size_t len) {
    while (len) {
        ssize_t got = pread(file->fd, next, len, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? errno : EIO;
        next += got;
        at += (uint64_t)got;
        len -= (size_t)got;
    }
    return 0;
}

static int read_all(struct disk *disk, struct disk_file *file, uint64_t at, void *to, size_t len) {
    (void)disk;
    pass_by(file, at + len, len, POSIX_FADV_WILLNEED);
    int error = read_fully(file, at, to, len);
    pass_by(file, at, len, POSIX_FADV_DONTNEED);
    return error;
}

/* A write of this size is synced soon, so writeback is started at once. Advice to the kernel only.
 */
static void begin_writing(const struct disk_file *file, uint64_t from, uint64_t to) {
    if (to - from >= BEGIN_BYTES)
        (void)sync_file_range(file->fd, (off_t)from, (off_t)(to - from), SYNC_FILE_RANGE_WRITE);
}

/* Files are renamed while they are open, so the file is opened again through its descriptor number.
 */
static void ask_for_direct(struct disk_file *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file->fd);
    int fd = open(path, O_WRONLY | O_DIRECT | O_CLOEXEC);
    file->direct = fd >= 0 ? fd : REFUSED;
}

static bool is_whole_pages(uint64_t at, const void *from, size_t len) {
    return (at | (uintptr_t)from | len) % MEMORY_PAGE == 0;
}

/* The descriptor to use: direct or cached. */
static int way_of(struct disk_file *file, uint64_t at, const void *from, size_t len) {
    if (!is_whole_pages(at, from, len))
        return file->fd;
    if (file->direct == NOT_ASKED)
        ask_for_direct(file);
    return file->direct >= 0 ? file->direct : file->fd;
}

/* Writes as many bytes as one system call accepts; 0 or less: none. */
static ssize_t put_some(struct disk_file *file, uint64_t at, const void *from, size_t len) {
    int way = way_of(file, at, from, len);
    ssize_t put = pwrite(way, from, len, (off_t)at);
    if (put >= 0 || errno != EINVAL || way == file->fd)
        return put;
    close(file->direct);
    file->direct = REFUSED;
    return pwrite(file->fd, from, len, (off_t)at);
}

static void note_written(struct disk_file *file, uint64_t from, uint64_t to) {
    if (from < file->dropped)
        file->dropped = from; /* the file was reused from its start */
    file->written = to;
    if (file->direct < 0)
        begin_writing(file, from, to);
}

static int write_all(struct disk *disk, struct disk_file *file, uint64_t at, const void *from,
                     size_t len) {
    (void)disk;
    const char *next = from;
    uint64_t begun = at;
    while (len) {
        ssize_t put = put_some(file, at, next, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? errno : EIO;
        next += put;
        at += (uint64_t)put;
        len -= (size_t)put;
    }
    note_written(file, begun, at);
    return 0;
}

static int allocate(struct disk *disk, struct disk_file *file, uint64_t bytes) {
    (void)disk;
    return posix_fallocate(file->fd, 0, (off_t)bytes);
}

/* Advice to the kernel only: a failure costs speed, not data. */
static void drop_behind(struct disk_file *file) {
    if (file->written < file->dropped + WARM_BYTES + DROP_STEP_BYTES)
        return;
    uint64_t until = file->written - WARM_BYTES;
    (void)posix_fadvise(file->fd, (off_t)file->dropped, (off_t)(until - file->dropped),
                        POSIX_FADV_DONTNEED);
    file->dropped = until;
}

static int sync_file(struct disk *disk, struct disk_file *file) {
    (void)disk;
    if (fdatasync(file->fd) != 0)
        return errno;
    drop_behind(file);
    return 0;
}

static int remove_file(struct disk *disk, const char *path) {
    (void)disk;
    return unlink(path) == 0 ? 0 : errno;
}

static int rename_file(struct disk *disk, const char *from, const char *to) {
    (void)disk;
    return rename(from, to) == 0 ? 0 : errno;
}

static int link_file(struct disk *disk, const char *from, const char *to) {
    (void)disk;
    return link(from, to) == 0 ? 0 : errno;
}

static int sync_dir(struct disk *disk, const char *path) {
    (void)disk;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    int error = fsync(fd) == 0 ? 0 : errno;
    close(fd);
    return error;
}

static int list(struct disk *disk, const char *path, void (*visit)(void *arg, const char *name),
                void *arg) {
    (void)disk;
    DIR *dir = opendir(path);
    if (!dir)
        return errno;
    struct dirent *entry;
    while (errno = 0, (entry = readdir(dir)))
        if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
            visit(arg, entry->d_name);
    int error = errno;
    closedir(dir);
    return error;
}

static const struct disk_vtable vtable = {
    .make_dir = make_dir,
    .open = open_file,
    .close = close_file,
    .size = size,
    .read = read_all,
    .write = write_all,
    .allocate = allocate,
    .sync = sync_file,
    .remove = remove_file,
    .rename = rename_file,
    .link = link_file,
    .sync_dir = sync_dir,
    .list = list,
};

struct disk disk_posix = {&vtable};
