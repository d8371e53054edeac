#include "sim_vfs.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/rng.h"

enum { PATH_MAX_BYTES = 512, SECTOR_BYTES = 512 };

/* From noon of the day that Julian days count from to 1970. */
static const int64_t julian_unix_ms = INT64_C(210866760000000);
static const double ms_per_day = 86400000.0;

struct sim_vfs {
    sqlite3_vfs base;
    struct sim_disk *sim;
    struct rng rng;
    int64_t unix_ms;
    unsigned temporaries; /* made so far */
};

struct vfs_file {
    sqlite3_file base;
    struct sim_vfs *vfs;
    struct disk_file *file;
    char *path;
    bool name_unsafe; /* it was created and its folder not synced since */
    bool delete_on_close;
};

static struct vfs_file *file_of(sqlite3_file *file) {
    return (struct vfs_file *)file;
}

static struct sim_vfs *vfs_of(sqlite3_vfs *vfs) {
    return vfs->pAppData;
}

static struct disk *disk_of(const struct vfs_file *file) {
    return sim_disk_port(file->vfs->sim);
}

static int sync_dir_of(struct disk *disk, const char *path) {
    const char *slash = strrchr(path, '/');
    struct bytes dir =
        !slash ? BYTES(".") : (struct bytes){path, slash == path ? 1 : (size_t)(slash - path)};
    char *name = bytes_dup(dir);
    int error = disk->vtable->sync_dir(disk, name);
    free(name);
    return error;
}

static int file_close(sqlite3_file *base) {
    struct vfs_file *file = file_of(base);
    struct disk *disk = disk_of(file);
    disk->vtable->close(disk, file->file);
    if (file->delete_on_close)
        (void)disk->vtable->remove(disk, file->path);
    free(file->path);
    return SQLITE_OK;
}

static int file_read(sqlite3_file *base, void *to, int len, sqlite3_int64 at) {
    struct vfs_file *file = file_of(base);
    struct disk *disk = disk_of(file);
    uint64_t size;
    if (disk->vtable->size(disk, file->file, &size))
        return SQLITE_IOERR_READ;
    uint64_t there = (uint64_t)at < size ? size - (uint64_t)at : 0;
    size_t got = there < (uint64_t)len ? (size_t)there : (size_t)len;
    if (disk->vtable->read(disk, file->file, (uint64_t)at < size ? (uint64_t)at : size, to, got))
        return SQLITE_IOERR_READ;
    memset((char *)to + got, 0, (size_t)len - got);
    return got == (size_t)len ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int file_write(sqlite3_file *base, const void *from, int len, sqlite3_int64 at) {
    struct vfs_file *file = file_of(base);
    struct disk *disk = disk_of(file);
    int error = disk->vtable->write(disk, file->file, (uint64_t)at, from, (size_t)len);
    if (error == ENOSPC)
        return SQLITE_FULL;
    return error ? SQLITE_IOERR_WRITE : SQLITE_OK;
}

static int file_truncate(sqlite3_file *base, sqlite3_int64 size) {
    struct vfs_file *file = file_of(base);
    return sim_disk_truncate(file->vfs->sim, file->file, (uint64_t)size) ? SQLITE_IOERR_TRUNCATE
                                                                         : SQLITE_OK;
}

static int file_sync(sqlite3_file *base, int flags) {
    (void)flags;
    struct vfs_file *file = file_of(base);
    struct disk *disk = disk_of(file);
    if (disk->vtable->sync(disk, file->file))
        return SQLITE_IOERR_FSYNC;
    if (file->name_unsafe && sync_dir_of(disk, file->path))
        return SQLITE_IOERR_DIR_FSYNC;
    file->name_unsafe = false;
    return SQLITE_OK;
}

static int file_size(sqlite3_file *base, sqlite3_int64 *out) {
    struct vfs_file *file = file_of(base);
    uint64_t size;
    if (disk_of(file)->vtable->size(disk_of(file), file->file, &size))
        return SQLITE_IOERR_FSTAT;
    *out = (sqlite3_int64)size;
    return SQLITE_OK;
}

static int file_lock(sqlite3_file *base, int level) {
    (void)base;
    (void)level;
    return SQLITE_OK;
}

static int file_reserved(sqlite3_file *base, int *out) {
    (void)base;
    *out = 0;
    return SQLITE_OK;
}

static int file_control(sqlite3_file *base, int what, void *arg) {
    (void)base;
    (void)what;
    (void)arg;
    return SQLITE_NOTFOUND;
}

static int file_sector(sqlite3_file *base) {
    (void)base;
    return SECTOR_BYTES;
}

static int file_traits(sqlite3_file *base) {
    (void)base;
    return 0;
}

static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_lock,
    .xCheckReservedLock = file_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector,
    .xDeviceCharacteristics = file_traits,
};

static int vfs_open(sqlite3_vfs *base, const char *name, sqlite3_file *out, int flags,
                    int *out_flags) {
    struct sim_vfs *vfs = vfs_of(base);
    struct vfs_file *file = file_of(out);
    struct disk *disk = sim_disk_port(vfs->sim);
    char temporary[PATH_MAX_BYTES];
    snprintf(temporary, sizeof temporary, "temporary-%u", ++vfs->temporaries);
    const char *path = name ? name : temporary;
    *file = (struct vfs_file){.vfs = vfs};
    file->name_unsafe = !sim_disk_exists(vfs->sim, path);
    if (disk->vtable->open(disk, path, (flags & SQLITE_OPEN_CREATE) != 0, &file->file))
        return SQLITE_CANTOPEN;
    file->path = bytes_dup(bytes_of(path));
    file->delete_on_close = (flags & SQLITE_OPEN_DELETEONCLOSE) != 0;
    file->base.pMethods = &methods;
    if (out_flags)
        *out_flags = flags;
    return SQLITE_OK;
}

static int vfs_delete(sqlite3_vfs *base, const char *path, int sync) {
    struct disk *disk = sim_disk_port(vfs_of(base)->sim);
    int error = disk->vtable->remove(disk, path);
    if (error)
        return error == ENOENT ? SQLITE_IOERR_DELETE_NOENT : SQLITE_IOERR_DELETE;
    return sync && sync_dir_of(disk, path) ? SQLITE_IOERR_DIR_FSYNC : SQLITE_OK;
}

static int vfs_access(sqlite3_vfs *base, const char *path, int flags, int *out) {
    (void)flags;
    *out = sim_disk_exists(vfs_of(base)->sim, path);
    return SQLITE_OK;
}

static int vfs_full_path(sqlite3_vfs *base, const char *path, int len, char *out) {
    (void)base;
    return snprintf(out, (size_t)len, "%s", path) < len ? SQLITE_OK : SQLITE_CANTOPEN;
}

static int vfs_randomness(sqlite3_vfs *base, int len, char *out) {
    for (int i = 0; i < len; i++)
        out[i] = (char)rng_next(&vfs_of(base)->rng);
    return len;
}

static int vfs_sleep(sqlite3_vfs *base, int microseconds) {
    (void)base;
    return microseconds;
}

static int vfs_time(sqlite3_vfs *base, double *out) {
    *out = (double)(vfs_of(base)->unix_ms + julian_unix_ms) / ms_per_day;
    return SQLITE_OK;
}

static int vfs_time_ms(sqlite3_vfs *base, sqlite3_int64 *out) {
    *out = vfs_of(base)->unix_ms + julian_unix_ms;
    return SQLITE_OK;
}

static int vfs_last_error(sqlite3_vfs *base, int len, char *out) {
    (void)base;
    if (len > 0)
        out[0] = '\0';
    return 0;
}

struct sim_vfs *sim_vfs_new(struct sim_disk *sim, uint64_t seed) {
    struct sim_vfs *vfs = memory_new(sizeof *vfs);
    vfs->sim = sim;
    rng_seed(&vfs->rng, seed);
    vfs->base = (sqlite3_vfs){
        .iVersion = 2,
        .szOsFile = sizeof(struct vfs_file),
        .mxPathname = PATH_MAX_BYTES,
        .zName = SIM_VFS_NAME,
        .pAppData = vfs,
        .xOpen = vfs_open,
        .xDelete = vfs_delete,
        .xAccess = vfs_access,
        .xFullPathname = vfs_full_path,
        .xRandomness = vfs_randomness,
        .xSleep = vfs_sleep,
        .xCurrentTime = vfs_time,
        .xGetLastError = vfs_last_error,
        .xCurrentTimeInt64 = vfs_time_ms,
    };
    sqlite3_vfs_register(&vfs->base, 0);
    return vfs;
}

void sim_vfs_free(struct sim_vfs *vfs) {
    sqlite3_vfs_unregister(&vfs->base);
    free(vfs);
}

void sim_vfs_set_time(struct sim_vfs *vfs, int64_t unix_ms) {
    vfs->unix_ms = unix_ms;
}
