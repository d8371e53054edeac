/* disk: the file operations that the journal needs, so that tests can use a simulated disk.
 *
 * Functions return 0 or a positive errno; reads and writes are complete or fail. Written data is
 * not durable before sync; the creation, removal or renaming of a name is not durable before
 * sync_dir. */
#ifndef PORT_DISK_H
#define PORT_DISK_H

#include <stddef.h>
#include <stdint.h>

struct disk_file;
struct disk;

struct disk_vtable {
    int (*make_dir)(struct disk *disk, const char *path); /* no error when it exists */
    /* Creates the file if `create`; otherwise ENOENT if it does not exist. */
    int (*open)(struct disk *disk, const char *path, int create, struct disk_file **out);
    void (*close)(struct disk *disk, struct disk_file *file);
    int (*size)(struct disk *disk, struct disk_file *file, uint64_t *out);
    /* Reading past the end is EIO. */
    int (*read)(struct disk *disk, struct disk_file *file, uint64_t at, void *to, size_t len);
    /* Writes that are aligned to whole pages, in the file and in memory, may be faster. */
    int (*write)(struct disk *disk, struct disk_file *file, uint64_t at, const void *from,
                 size_t len);
    int (*allocate)(struct disk *disk, struct disk_file *file,
                    uint64_t size);                         /* extends with zeroes */
    int (*sync)(struct disk *disk, struct disk_file *file); /* fdatasync */
    int (*remove)(struct disk *disk, const char *path);
    int (*rename)(struct disk *disk, const char *from, const char *to);
    /* A hard link; EEXIST if the name exists. Not every file system supports it. */
    int (*link)(struct disk *disk, const char *from, const char *to);
    int (*sync_dir)(struct disk *disk, const char *path);
    /* Calls `visit` with the name of each regular file in the directory. */
    int (*list)(struct disk *disk, const char *path, void (*visit)(void *arg, const char *name),
                void *arg);
};

struct disk {
    const struct disk_vtable *vtable;
};

#endif
