/* crc32c: the Castagnoli checksum, with the CPU's instruction if it has one. */
#ifndef STORE_EMBEDDED_JOURNAL_CRC32C_H
#define STORE_EMBEDDED_JOURNAL_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from `before`, the checksum of the preceding bytes (0: none). */
uint32_t crc32c(uint32_t before, const void *data, size_t len);

#endif
