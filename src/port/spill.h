/* spill: stores letters in archive files when their DLQ is full and has `on_full: spill`. */
#ifndef PORT_SPILL_H
#define PORT_SPILL_H

#include "base/bytes.h"
#include "base/instant.h"
#include "base/status.h"

struct spill;

struct spill_vtable {
    /* Appends one NDJSON line (without its \n) as a complete zstd frame to
     * <archive>/<dlq>/spill-<date>.ndjson.zst. Not durable before sync. */
    enum status (*append)(struct spill *spill, struct bytes archive, struct bytes dlq,
                          struct wall now, struct bytes line, struct err *err);
    /* Makes all appended lines durable. */
    enum status (*sync)(struct spill *spill, struct err *err);
    void (*free)(struct spill *spill);
};

struct spill {
    const struct spill_vtable *vtable;
};

#endif
