/* clock_record: by how much the wall clock was set ahead since an earlier start, on a machine that
 * was not started anew meanwhile.
 *
 * Each start writes into <store>.d/clock: the id of the machine's boot, the time since that boot
 * (CLOCK_BOOTTIME, which counts the time that the machine slept), and the wall time as far as it
 * can be believed. The next start of the same boot compares: what the wall clock shows beyond the
 * time that has passed is a leap, and nothing expires for it (SEMANTICS 2.6). After a boot, without
 * a record, and after one of a clock that was never set, the wall clock is believed. */
#ifndef STORE_CLOCK_RECORD_H
#define STORE_CLOCK_RECORD_H

#include "base/bytes.h"
#include "port/clock.h"

enum { CLOCK_RECORD_BOOT_SIZE = 37, CLOCK_RECORD_MAX = 128 };

struct clock_record {
    char boot[CLOCK_RECORD_BOOT_SIZE]; /* a UUID */
    int64_t since_boot_ms;
    int64_t wall_ms;
};

/* False: it is none of ours. */
bool clock_record_parse(struct bytes text, struct clock_record *out);
/* 0: not ahead, or it cannot be told. */
int64_t clock_record_ahead(const struct clock_record *last, const struct clock_record *now);

/* Sets clock->ahead_ms, before anything reads the clock for what expires. */
void clock_record_load(const char *store_path, struct clock *clock);
/* Once the store is open, so that its folder is there and nobody else's. */
void clock_record_save(const char *store_path, struct clock *clock);

#endif
