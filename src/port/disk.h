/* disk: the file operations that the journal needs, so that a simulated disk can stand in.
 *
 * Functions return 0 or a positive errno; reads and writes are whole or they failed. Nothing that
 * was written is safe before sync; a name that was made, removed or renamed is not safe before
 * sync_dir. */
#ifndef PORT_DISK_H
#define PORT_DISK_H

#include <stddef.h>
#include <stdint.h>

struct disk_file;
struct disk;

struct disk_vtable {
    int (*make_dir)(struct disk *disk, const char *path); /* no error when it exists */
    /* Creates the file when `create`; ENOENT otherwise. */
    int (*open)(struct disk *disk, const char *path, int create, struct disk_file **out);
    void (*close)(struct disk *disk, struct disk_file *file);
    int (*size)(struct disk *disk, struct disk_file *file, uint64_t *out);
    /* Reading past the end is EIO. */
    int (*read)(struct disk *disk, struct disk_file *file, uint64_t at, void *to, size_t len);
    /* What begins and ends on whole pages, of the file and of memory, may cost less. */
    int (*write)(struct disk *disk, struct disk_file *file, uint64_t at, const void *from,
                 size_t len);
    int (*allocate)(struct disk *disk, struct disk_file *file,
                    uint64_t size);                         /* extends with zeroes */
    int (*sync)(struct disk *disk, struct disk_file *file); /* fdatasync */
    int (*remove)(struct disk *disk, const char *path);
    int (*rename)(struct disk *disk, const char *from, const char *to);
    /* A second name for a file; EEXIST when there is such a name. Not every file system can. */
    int (*link)(struct disk *disk, const char *from, const char *to);
    int (*sync_dir)(struct disk *disk, const char *path);
    /* Calls `visit` with each plain name in the directory. */
    int (*list)(struct disk *disk, const char *path, void (*visit)(void *arg, const char *name),
                void *arg);
};

struct disk {
    const struct disk_vtable *vtable;
};

#endif
