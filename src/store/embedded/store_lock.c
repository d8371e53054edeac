#include "store/embedded/store_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"

enum {
    LOCK_TRIES = 200,
    LOCK_PAUSE_NS = 10000000,
};

/* A child that a killed process had just forked holds the lock until its exec, so the new process
 * retries for a short time instead of failing. */
static bool take(int file) {
    struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
    for (int i = 1; i < LOCK_TRIES; i++) {
        if (flock(file, LOCK_EX | LOCK_NB) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return flock(file, LOCK_EX | LOCK_NB) == 0;
}

enum status store_lock_take(struct disk *disk, const char *dir, int *file, struct err *err) {
    int made = disk->vtable->make_dir(disk, dir);
    if (made != 0)
        return err_set(err, STATUS_IO, "cannot make the store's folder %s: %s", dir,
                       made == ENOENT ? "the folder above it does not exist; make that first"
                                      : strerror(made));
    struct buf path;
    buf_init_heap(&path, strlen(dir) + sizeof "/lock");
    buf_printf(&path, "%s/lock", dir);
    *file = open(buf_cstr(&path), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    buf_free(&path);
    if (*file < 0)
        return err_set(err, STATUS_IO, "%s/lock: %s", dir, strerror(errno));
    if (!take(*file))
        return err_set(
            err, STATUS_BUSY,
            "%s is in use by another process, such as a running impound serve; stop that first",
            dir);
    return STATUS_OK;
}

void store_lock_release(int *file) {
    if (*file >= 0)
        close(*file);
    *file = -1;
}
