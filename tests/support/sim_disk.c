#include "sim_disk.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "sim_file.h"

struct inode {
    struct sim_file file;
    bool is_dir;
    struct inode *next;
};

/* A change of names that no sync_dir has made safe: `path` goes, `to` comes. */
struct name_change {
    char *dir;
    char *gone;
    char *come;
    struct inode *inode;
};

struct name {
    char *path;
    struct inode *inode;
};

struct name_table {
    struct name *list;
    size_t count;
    size_t cap;
};

struct disk_file {
    struct inode *inode;
    uint64_t life; /* of the machine, when it was opened */
};

struct sim_disk {
    struct disk port;
    struct rng rng;
    struct inode *inodes;
    struct name_table now;
    struct name_table safe;
    struct name_change *changes;
    size_t change_count;
    size_t change_cap;
    uint64_t life;
    uint64_t calls;
    uint64_t die_at; /* the call; 0: none */
    bool dead;
    uint64_t fail_from; /* the call */
    uint64_t fail_count;
    int fail_error;
    uint64_t capacity;
};

static struct sim_disk *sim_of(struct disk *disk) {
    return (struct sim_disk *)disk;
}

static struct name *find(const struct name_table *names, const char *path) {
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i].path, path) == 0)
            return &names->list[i];
    return NULL;
}

static void drop_name(struct name_table *names, const char *path) {
    struct name *name = path ? find(names, path) : NULL;
    if (!name)
        return;
    free(name->path);
    *name = names->list[--names->count];
}

static void set_name(struct name_table *names, const char *path, struct inode *inode) {
    drop_name(names, path);
    if (names->count == names->cap) {
        names->cap = names->cap ? names->cap * 2 : 16;
        names->list = memory_grow(names->list, names->cap * sizeof *names->list);
    }
    names->list[names->count++] = (struct name){bytes_dup(bytes_of(path)), inode};
}

static void clear_names(struct name_table *names) {
    while (names->count)
        free(names->list[--names->count].path);
}

static struct bytes dir_of(const char *path) {
    const char *slash = strrchr(path, '/');
    if (!slash)
        return BYTES(".");
    return (struct bytes){path, slash == path ? 1 : (size_t)(slash - path)};
}

static void apply_change(struct name_table *names, const struct name_change *change) {
    drop_name(names, change->gone);
    if (change->come)
        set_name(names, change->come, change->inode);
}

static void free_change(struct name_change *change) {
    free(change->dir);
    free(change->gone);
    free(change->come);
}

static void change_name(struct sim_disk *sim, const char *gone, const char *come,
                        struct inode *inode) {
    if (sim->change_count == sim->change_cap) {
        sim->change_cap = sim->change_cap ? sim->change_cap * 2 : 16;
        sim->changes = memory_grow(sim->changes, sim->change_cap * sizeof *sim->changes);
    }
    struct name_change *change = &sim->changes[sim->change_count++];
    *change = (struct name_change){.dir = bytes_dup(dir_of(come ? come : gone)),
                                   .gone = gone ? bytes_dup(bytes_of(gone)) : NULL,
                                   .come = come ? bytes_dup(bytes_of(come)) : NULL,
                                   .inode = inode};
    apply_change(&sim->now, change);
}

/* Counts a call; the errno that it fails with by plan, or 0. */
static int count_call(struct sim_disk *sim) {
    if (sim->dead)
        return EIO;
    sim->calls++;
    if (sim->calls == sim->die_at) {
        sim->dead = true;
        return EIO;
    }
    if (sim->fail_count && sim->calls >= sim->fail_from) {
        sim->fail_count--;
        return sim->fail_error;
    }
    return 0;
}

static bool is_usable(const struct sim_disk *sim, const struct disk_file *file) {
    return !sim->dead && file->life == sim->life;
}

static struct inode *inode_new(struct sim_disk *sim, bool is_dir) {
    struct inode *inode = memory_new(sizeof *inode);
    inode->is_dir = is_dir;
    inode->next = sim->inodes;
    sim->inodes = inode;
    return inode;
}

static int make_dir(struct disk *disk, const char *path) {
    struct sim_disk *sim = sim_of(disk);
    int error = count_call(sim);
    if (!error && !find(&sim->now, path))
        change_name(sim, NULL, path, inode_new(sim, true));
    return error;
}

static int open_file(struct disk *disk, const char *path, int create, struct disk_file **out) {
    struct sim_disk *sim = sim_of(disk);
    if (sim->dead)
        return EIO;
    struct name *name = find(&sim->now, path);
    if (!name && !create)
        return ENOENT;
    int error = name ? 0 : count_call(sim);
    if (error)
        return error;
    struct inode *inode = name ? name->inode : inode_new(sim, false);
    if (!name)
        change_name(sim, NULL, path, inode);
    *out = memory_new(sizeof **out);
    **out = (struct disk_file){inode, sim->life};
    return 0;
}

static void close_file(struct disk *disk, struct disk_file *file) {
    (void)disk;
    free(file);
}

static int size(struct disk *disk, struct disk_file *file, uint64_t *out) {
    if (!is_usable(sim_of(disk), file))
        return EIO;
    *out = file->inode->file.now.len;
    return 0;
}

static int read_file(struct disk *disk, struct disk_file *file, uint64_t at, void *to, size_t len) {
    const struct sim_run *now = &file->inode->file.now;
    if (!is_usable(sim_of(disk), file) || at > now->len || len > now->len - at)
        return EIO;
    if (len)
        memcpy(to, now->ptr + at, len);
    return 0;
}

static bool has_room(const struct sim_disk *sim, const struct inode *grown, uint64_t size_wanted) {
    uint64_t used = size_wanted;
    for (size_t i = 0; i < sim->now.count; i++)
        if (sim->now.list[i].inode != grown)
            used += sim->now.list[i].inode->file.now.len;
    return !sim->capacity || size_wanted <= grown->file.now.len || used <= sim->capacity;
}

static int write_file(struct disk *disk, struct disk_file *file, uint64_t at, const void *from,
                      size_t len) {
    struct sim_disk *sim = sim_of(disk);
    if (!is_usable(sim, file))
        return EIO;
    int error = count_call(sim);
    if (!error && !has_room(sim, file->inode, at + len))
        return ENOSPC;
    /* A write that failed, or that the power cut met, may have got anywhere. */
    if (error)
        len = rng_below(&sim->rng, 2) ? len : rng_below(&sim->rng, len + 1);
    if (!error || rng_below(&sim->rng, 2))
        sim_file_write(&file->inode->file, at, from, len);
    return error;
}

static int allocate(struct disk *disk, struct disk_file *file, uint64_t bytes) {
    struct sim_disk *sim = sim_of(disk);
    if (!is_usable(sim, file))
        return EIO;
    int error = count_call(sim);
    if (error || bytes <= file->inode->file.now.len)
        return error;
    if (!has_room(sim, file->inode, bytes))
        return ENOSPC;
    sim_file_resize(&file->inode->file, bytes);
    return 0;
}

int sim_disk_truncate(struct sim_disk *sim, struct disk_file *file, uint64_t bytes) {
    if (!is_usable(sim, file))
        return EIO;
    int error = count_call(sim);
    if (!error)
        sim_file_resize(&file->inode->file, bytes);
    return error;
}

static int sync_file(struct disk *disk, struct disk_file *file) {
    struct sim_disk *sim = sim_of(disk);
    if (!is_usable(sim, file))
        return EIO;
    int error = count_call(sim);
    if (!error)
        sim_file_sync(&file->inode->file);
    else if (!sim->dead)
        sim_file_sync_failed(&file->inode->file, &sim->rng);
    return error;
}

static int remove_file(struct disk *disk, const char *path) {
    struct sim_disk *sim = sim_of(disk);
    int error = count_call(sim);
    if (error)
        return error;
    if (!find(&sim->now, path))
        return ENOENT;
    change_name(sim, path, NULL, NULL);
    return 0;
}

static int rename_file(struct disk *disk, const char *from, const char *to) {
    struct sim_disk *sim = sim_of(disk);
    int error = count_call(sim);
    if (error)
        return error;
    struct name *name = find(&sim->now, from);
    if (!name)
        return ENOENT;
    change_name(sim, from, to, name->inode);
    return 0;
}

static int link_file(struct disk *disk, const char *from, const char *to) {
    struct sim_disk *sim = sim_of(disk);
    int error = count_call(sim);
    if (error)
        return error;
    const struct name *name = find(&sim->now, from);
    if (!name)
        return ENOENT;
    if (find(&sim->now, to))
        return EEXIST;
    change_name(sim, NULL, to, name->inode);
    return 0;
}

static int sync_dir(struct disk *disk, const char *path) {
    struct sim_disk *sim = sim_of(disk);
    int error = count_call(sim);
    if (error)
        return error;
    size_t kept = 0;
    for (size_t i = 0; i < sim->change_count; i++) {
        struct name_change change = sim->changes[i];
        if (strcmp(change.dir, path) != 0) {
            sim->changes[kept++] = change;
            continue;
        }
        apply_change(&sim->safe, &change);
        free_change(&change);
    }
    sim->change_count = kept;
    return 0;
}

static int list(struct disk *disk, const char *path, void (*visit)(void *arg, const char *name),
                void *arg) {
    struct sim_disk *sim = sim_of(disk);
    if (sim->dead)
        return EIO;
    struct name *dir = find(&sim->now, path);
    if (!dir || !dir->inode->is_dir)
        return ENOENT;
    for (size_t i = 0; i < sim->now.count; i++) {
        const struct name *name = &sim->now.list[i];
        if (!name->inode->is_dir && bytes_is(dir_of(name->path), path))
            visit(arg, strrchr(name->path, '/') + 1);
    }
    return 0;
}

static const struct disk_vtable vtable = {
    .make_dir = make_dir,
    .open = open_file,
    .close = close_file,
    .size = size,
    .read = read_file,
    .write = write_file,
    .allocate = allocate,
    .sync = sync_file,
    .remove = remove_file,
    .rename = rename_file,
    .link = link_file,
    .sync_dir = sync_dir,
    .list = list,
};

struct sim_disk *sim_disk_new(uint64_t seed) {
    struct sim_disk *sim = memory_new(sizeof *sim);
    sim->port.vtable = &vtable;
    rng_seed(&sim->rng, seed);
    return sim;
}

void sim_disk_free(struct sim_disk *sim) {
    while (sim->inodes) {
        struct inode *inode = sim->inodes;
        sim->inodes = inode->next;
        sim_file_free(&inode->file);
        free(inode);
    }
    while (sim->change_count)
        free_change(&sim->changes[--sim->change_count]);
    clear_names(&sim->now);
    clear_names(&sim->safe);
    free(sim->now.list);
    free(sim->safe.list);
    free(sim->changes);
    free(sim);
}

struct disk *sim_disk_port(struct sim_disk *sim) {
    return &sim->port;
}

uint64_t sim_disk_calls(const struct sim_disk *sim) {
    return sim->calls;
}

void sim_disk_crash_at(struct sim_disk *sim, uint64_t calls) {
    sim->die_at = calls ? sim->calls + calls : 0;
}

bool sim_disk_is_dead(const struct sim_disk *sim) {
    return sim->dead;
}

/* A folder that was lost takes with it what was in it. */
static void drop_orphans(struct name_table *names) {
    for (size_t i = 0; i < names->count;) {
        struct bytes dir = dir_of(names->list[i].path);
        char *parent = bytes_dup(dir);
        bool orphan = !bytes_is(dir, ".") && !bytes_is(dir, "/") && !find(names, parent);
        free(parent);
        if (orphan)
            drop_name(names, names->list[i].path);
        i = orphan ? 0 : i + 1;
    }
}

void sim_disk_crash(struct sim_disk *sim) {
    for (size_t i = 0; i < sim->change_count; i++) {
        if (rng_below(&sim->rng, 2))
            apply_change(&sim->safe, &sim->changes[i]);
        free_change(&sim->changes[i]);
    }
    sim->change_count = 0;
    drop_orphans(&sim->safe);
    clear_names(&sim->now);
    for (size_t i = 0; i < sim->safe.count; i++)
        set_name(&sim->now, sim->safe.list[i].path, sim->safe.list[i].inode);
    for (struct inode *inode = sim->inodes; inode; inode = inode->next)
        sim_file_crash(&inode->file, &sim->rng);
    sim->life++;
    sim->dead = false;
    sim->die_at = 0;
    sim->fail_count = 0;
}

void sim_disk_fail_after(struct sim_disk *sim, uint64_t calls, uint64_t count, int error) {
    assert(error > 0);
    sim->fail_from = sim->calls + calls + 1;
    sim->fail_count = count;
    sim->fail_error = error;
}

void sim_disk_set_capacity(struct sim_disk *sim, uint64_t bytes) {
    sim->capacity = bytes;
}

bool sim_disk_flip(struct sim_disk *sim, const char *path, uint64_t at, unsigned bit) {
    struct name *name = find(&sim->now, path);
    if (!name || at >= name->inode->file.now.len)
        return false;
    sim_file_flip(&name->inode->file, at, bit);
    return true;
}

bool sim_disk_exists(const struct sim_disk *sim, const char *path) {
    return find(&sim->now, path) != NULL;
}
