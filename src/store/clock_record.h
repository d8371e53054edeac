/* clock_record: detects that the wall clock was set ahead between two starts of impound without a
 * reboot of the host.
 *
 * Each start writes into <store>.d/clock: the boot id of the host, the time since boot
 * (CLOCK_BOOTTIME, which includes suspend), and the wall time as far as it is trusted. The next
 * start with the same boot id compares them: the time that the wall clock advanced beyond the
 * elapsed time is a clock jump, and messages do not expire because of it (SEMANTICS 2.6). After a
 * reboot, without a record, and after a record from a clock that was never set, the wall clock is
 * trusted. */
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

/* False: not a valid record. */
bool clock_record_parse(struct bytes text, struct clock_record *out);
/* 0: not ahead, or unknown. */
int64_t clock_record_ahead(const struct clock_record *last, const struct clock_record *now);

/* Sets clock->ahead_ms. Called before the clock is read for expiry. */
void clock_record_load(const char *store_path, struct clock *clock);
/* Called once the store is open: its directory exists then, and the store lock is held. */
void clock_record_save(const char *store_path, struct clock *clock);

#endif
