/* sim_file: the bytes of one simulated file, as programs see them and as they are on the platter.
 */
#ifndef SIM_FILE_H
#define SIM_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"

struct sim_run {
    char *ptr;
    size_t len;
    size_t cap;
};

/* A write that is in the page cache alone. */
struct sim_write {
    uint64_t at;
    size_t len;
    char *data; /* NULL: the file was made `at` + `len` bytes long, or cut to that */
};

struct sim_file {
    struct sim_run now;  /* what reads see */
    struct sim_run safe; /* what a power cut leaves for certain */
    struct sim_write *pending;
    size_t pending_count;
    size_t pending_cap;
};

void sim_file_free(struct sim_file *file);
void sim_file_write(struct sim_file *file, uint64_t at, const void *from, size_t len);
void sim_file_resize(struct sim_file *file, uint64_t size);
void sim_file_sync(struct sim_file *file);
/* A sync that failed: some of the writes reached the platter, and no later sync brings the others.
 */
void sim_file_sync_failed(struct sim_file *file, struct rng *rng);
/* Power is cut: each pending write is lost, kept or torn, independently of those before it. */
void sim_file_crash(struct sim_file *file, struct rng *rng);
void sim_file_flip(struct sim_file *file, uint64_t at, unsigned bit);

#endif
