/* store_lock: ensures that one process at a time has a store open. */
#ifndef STORE_EMBEDDED_STORE_LOCK_H
#define STORE_EMBEDDED_STORE_LOCK_H

#include "base/status.h"
#include "port/disk.h"

/* Creates `dir` and locks `dir`/lock until *file is closed. BUSY: another process still holds the
 * lock after two seconds. */
enum status store_lock_take(struct disk *disk, const char *dir, int *file, struct err *err);
void store_lock_release(int *file); /* no effect on -1 */

#endif
