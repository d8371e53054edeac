/* lost: detects that the SQLite file is a new one, created because the original is missing. */
#ifndef STORE_EMBEDDED_DOCTOR_LOST_H
#define STORE_EMBEDDED_DOCTOR_LOST_H

#include <stdint.h>

#include "base/status.h"
#include "port/disk.h"

/* The files in the store's directory. */
struct lost_files {
    uint64_t *packs; /* their numbers, ascending; the caller frees the array */
    size_t pack_count;
    size_t segment_count;
    bool from_birth; /* the journal has everything that was ever committed */
};

enum status lost_list(struct disk *disk, const char *dir, struct lost_files *out, struct err *err);
/* True if no fold was ever written to the file (next_seq 0), but there are packs, which only folds
 * make, or a journal whose first segments were recycled. False if the journal has everything from
 * the start: then a crash may have interrupted the first fold. */
bool lost_is(const struct lost_files *files, uint64_t next_seq);
/* CORRUPT if it is. */
enum status lost_check(struct disk *disk, const char *dir, uint64_t next_seq, struct err *err);

#endif
