/* A disk whose syncs fail on demand, for a program that is run with this preloaded: while the file
 * that DISK_FAILS names exists, fdatasync answers EIO. */
#include <errno.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int file) {
    const char *path = getenv("DISK_FAILS");
    if (path && access(path, F_OK) == 0) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, file);
}
