#include "store/embedded/doctor/lost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "store/embedded/journal/journal_segment.h"
#include "store/embedded/pages/pack.h"

static void add_pack(struct lost_files *files, uint64_t number) {
    files->packs = memory_grow(files->packs, (files->pack_count + 1) * sizeof *files->packs);
    size_t at = files->pack_count++;
    for (; at > 0 && files->packs[at - 1] > number; at--)
        files->packs[at] = files->packs[at - 1];
    files->packs[at] = number;
}

struct folder_listing {
    struct disk *disk;
    const char *dir;
    struct lost_files *files;
};

/* The header of the journal's first segment names no previous one. It has number 1, unless the
 * creation of number 1 failed. */
static bool is_first(const struct folder_listing *listing, const char *name) {
    struct disk *disk = listing->disk;
    struct disk_file *file;
    struct journal_header header;
    uint8_t block[JOURNAL_BLOCK];
    char path[JOURNAL_PATH_MAX];
    if (!journal_segment_path(listing->dir, name, path) ||
        disk->vtable->open(disk, path, 0, &file) != 0)
        return false;
    bool read = disk->vtable->read(disk, file, 0, block, sizeof block) == 0;
    disk->vtable->close(disk, file);
    return read && journal_format_get_header(block, &header) && header.previous == 0;
}

static void note_file(void *arg, const char *name) {
    const struct folder_listing *listing = arg;
    struct lost_files *files = listing->files;
    uint64_t number;
    if (journal_segment_number(name, &number)) {
        files->segment_count++;
        files->from_birth |= number == 1 || is_first(listing, name);
    } else if (pack_number(name, &number)) {
        add_pack(files, number);
    }
}

enum status lost_list(struct disk *disk, const char *dir, struct lost_files *out, struct err *err) {
    struct folder_listing listing = {disk, dir, out};
    *out = (struct lost_files){0};
    int error = disk->vtable->list(disk, dir, note_file, &listing);
    if (error && error != ENOENT)
        return err_set(err, STATUS_IO, "%s: %s", dir, strerror(error));
    return STATUS_OK;
}

bool lost_is(const struct lost_files *files, uint64_t next_seq) {
    return next_seq == 0 && !files->from_birth &&
           (files->pack_count > 0 || files->segment_count > 0);
}

enum status lost_check(struct disk *disk, const char *dir, uint64_t next_seq, struct err *err) {
    struct lost_files files;
    enum status status = lost_list(disk, dir, &files, err);
    if (status == STATUS_OK && lost_is(&files, next_seq))
        status = err_set(err, STATUS_CORRUPT,
                         "the SQLite file is new, but %s holds %zu packs and %zu journal segments "
                         "of an older one: put that file or a copy of it back",
                         dir, files.pack_count, files.segment_count);
    free(files.packs);
    return status;
}
