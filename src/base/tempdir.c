/* tempdir: see the header (tempdir). */
#include "base/tempdir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_OPEN = 16 };

enum status tempdir_make(const char *above, const char *name, char *path, size_t size,
                         struct err *err) {
    int len = snprintf(path, size, "%s/%s-XXXXXX", above, name);
    bool fits = len > 0 && (size_t)len < size;
    if (fits && mkdtemp(path))
        return STATUS_OK;
    err_set(err, STATUS_IO, "no temporary folder in %.250s: %s", above,
            fits ? strerror(errno) : "its name is too long");
    path[0] = '\0';
    return STATUS_IO;
}

static int remove_one(const char *path, const struct stat *stat, int flag, struct FTW *at) {
    (void)stat, (void)flag, (void)at;
    return remove(path);
}

void tempdir_remove(const char *path) {
    if (path[0])
        nftw(path, remove_one, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}
