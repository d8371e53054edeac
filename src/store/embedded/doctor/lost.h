/* lost: whether the SQLite file is a new one in the place of one that is gone. */
#ifndef STORE_EMBEDDED_DOCTOR_LOST_H
#define STORE_EMBEDDED_DOCTOR_LOST_H

#include <stdint.h>

#include "base/status.h"
#include "port/disk.h"

/* What stands in the store's folder. */
struct lost_files {
    uint64_t *packs; /* their numbers, ascending; free() them */
    size_t pack_count;
    size_t segment_count;
    bool from_birth; /* the journal holds all that was ever committed */
};

enum status lost_list(struct disk *disk, const char *dir, struct lost_files *out, struct err *err);
/* A file that no fold was ever written to (next_seq 0), beside packs that folds made or a journal
 * whose beginning was used again. Where the journal holds everything from the beginning on, it may
 * be that the first fold was cut short. */
bool lost_is(const struct lost_files *files, uint64_t next_seq);
/* CORRUPT when it is. */
enum status lost_check(struct disk *disk, const char *dir, uint64_t next_seq, struct err *err);

#endif
