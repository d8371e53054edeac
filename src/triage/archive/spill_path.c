/* spill_path: see the header. */
#include "triage/archive/spill_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DATE_LEN = 10 }; /* of "2026-11-15T…" */

static bool is_safe_name(struct bytes name) {
    return name.len > 0 && name.ptr[0] != '.' && bytes_find(name, BYTES("/")) == name.len &&
           bytes_find(name, BYTES("..")) == name.len && !memchr(name.ptr, '\0', name.len);
}

enum status spill_path_root(struct bytes base_dir, struct bytes archive, struct buf *out,
                            struct err *err) {
    struct bytes scheme = BYTES("file:");
    if (bytes_starts(archive, BYTES("s3://")))
        return err_set(err, STATUS_NOT_YET, "archive \"%.*s\": only file: is in this version",
                       BYTES_ARG(archive));
    if (!bytes_starts(archive, scheme))
        return err_set(err, STATUS_INVALID, "\"%.*s\" is not an archive; write file:FOLDER",
                       BYTES_ARG(archive));
    struct bytes path = bytes_cut(archive, scheme.len, archive.len);
    if (bytes_starts(path, BYTES("///")))
        path = bytes_cut(path, 2, path.len);
    if (path.len == 0 || path.ptr[0] != '/') {
        buf_bytes(out, base_dir.len ? base_dir : BYTES("."));
        buf_char(out, '/');
    }
    buf_bytes(out, path);
    return STATUS_OK;
}

enum status spill_path_folder(struct bytes base_dir, struct bytes archive, struct bytes dlq,
                              struct buf *out, struct err *err) {
    if (!is_safe_name(dlq))
        return err_set(err, STATUS_INVALID, "\"%.*s\" cannot be the name of a spill folder",
                       BYTES_ARG(dlq));
    enum status status = spill_path_root(base_dir, archive, out, err);
    if (status != STATUS_OK)
        return status;
    if (out->ptr[out->len - 1] != '/')
        buf_char(out, '/');
    buf_bytes(out, dlq);
    return STATUS_OK;
}

void spill_path_file(struct wall now, unsigned number, struct buf *out) {
    char text[INSTANT_TEXT_SIZE];
    buf_printf(out, "/spill-%.*s", DATE_LEN, wall_text(now, text));
    if (number > 1)
        buf_printf(out, ".%u", number);
    buf_str(out, ".ndjson.zst");
}

bool spill_path_sync(const char *folder) {
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = fsync(fd) == 0;
    int why = errno;
    close(fd);
    errno = why;
    return ok;
}

/* Cuts a path to its parent directory. */
static void cut_last(char *path) {
    char *slash = strrchr(path, '/');
    if (!slash)
        strcpy(path, ".");
    else if (slash == path)
        path[1] = '\0';
    else
        *slash = '\0';
}

static bool make_one(const char *folder) {
    if (mkdir(folder, 0777) != 0)
        return errno == EEXIST;
    char *parent = bytes_dup(bytes_of(folder));
    cut_last(parent);
    bool ok = spill_path_sync(parent);
    free(parent);
    return ok;
}

bool spill_path_make(const char *folder) {
    char *path = bytes_dup(bytes_of(folder));
    bool ok = true;
    for (char *slash = strchr(path + 1, '/'); ok && slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        ok = make_one(path);
        *slash = '/';
    }
    ok = ok && make_one(path);
    free(path);
    return ok;
}
