#include "store/embedded/safe_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

int safe_names_sync_parent(struct disk *disk, const char *path) {
    const char *slash = strrchr(path, '/');
    char *parent = slash == path ? bytes_dup(BYTES("/"))
                   : slash       ? bytes_dup((struct bytes){path, (size_t)(slash - path)})
                                 : bytes_dup(BYTES("."));
    int error = disk->vtable->sync_dir(disk, parent);
    free(parent);
    return error;
}
