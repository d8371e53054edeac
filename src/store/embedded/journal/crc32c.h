/* crc32c: the Castagnoli checksum, by the processor's own instruction where it has one. */
#ifndef STORE_EMBEDDED_JOURNAL_CRC32C_H
#define STORE_EMBEDDED_JOURNAL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from `before`, the checksum of what stands in front (0: nothing does). */
uint32_t crc32c(uint32_t before, const void *data, size_t len);

#endif
