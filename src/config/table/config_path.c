#include "config/table/config_path.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "config/table/config_value.h"

static struct bytes joined(struct arena *arena, struct bytes dir, struct bytes path) {
    struct buf buf;
    buf_init_heap(&buf, 2 * PATH_MAX + path.len);
    buf_bytes(&buf, dir);
    if (!bytes_ends(dir, BYTES("/")))
        buf_char(&buf, '/');
    buf_bytes(&buf, path);
    struct bytes whole = arena_dup(arena, buf_view(&buf));
    buf_free(&buf);
    return whole;
}

struct bytes config_path_dir(struct arena *arena, const char *file) {
    char here[PATH_MAX];
    const char *slash = strrchr(file, '/');
    struct bytes dir = {file, slash ? (size_t)(slash - file) : 0};
    if (slash == file)
        return BYTES("/");
    if (dir.len && dir.ptr[0] == '/')
        return arena_dup(arena, dir);
    struct bytes cwd = bytes_of(getcwd(here, sizeof here) ? here : ".");
    return dir.len ? joined(arena, cwd, dir) : arena_dup(arena, cwd);
}

struct bytes config_path_from(struct config *config, struct bytes path) {
    if (bytes_starts(path, BYTES("/")))
        return path;
    return joined(&config->arena, config->dir, path);
}

bool config_path_read_pem(struct config_reader *reader, const struct config_node *node,
                          const struct config_field *field, void *out) {
    (void)field;
    struct bytes path;
    if (!config_value_string(reader, node, "a PEM file", &path))
        return false;
    *(struct bytes *)out = config_path_from(reader->config, path);
    return true;
}
