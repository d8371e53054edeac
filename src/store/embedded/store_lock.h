/* lock: one process at a time has a store open. */
#ifndef STORE_EMBEDDED_STORE_LOCK_H
#define STORE_EMBEDDED_STORE_LOCK_H

#include "base/status.h"
#include "port/disk.h"

/* Makes `dir` and holds `dir`/lock until *file is closed. BUSY: another process holds it, and still
 * does after two seconds. */
enum status store_lock_take(struct disk *disk, const char *dir, int *file, struct err *err);
void store_lock_release(int *file); /* harmless on -1 */

#endif
