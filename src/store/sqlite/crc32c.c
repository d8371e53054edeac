#include "store/sqlite/crc32c.h"

#include <pthread.h>
#include <string.h>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

enum { POLYNOMIAL = 0x82F63B78, TABLE_SIZE = 256, BITS_PER_BYTE = 8 };

static uint32_t table[TABLE_SIZE];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void) {
    for (uint32_t i = 0; i < TABLE_SIZE; i++) {
        uint32_t rest = i;
        for (int bit = 0; bit < BITS_PER_BYTE; bit++)
            rest = rest & 1 ? rest >> 1 ^ (uint32_t)POLYNOMIAL : rest >> 1;
        table[i] = rest;
    }
}

static uint32_t by_table(uint32_t crc, const uint8_t *at, size_t len) {
    pthread_once(&table_once, fill_table);
    for (; len; at++, len--)
        crc = crc >> BITS_PER_BYTE ^ table[(crc ^ *at) & (TABLE_SIZE - 1)];
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at,
                                                                 size_t len) {
    uint64_t wide = crc;
    for (; len >= sizeof(uint64_t); at += sizeof(uint64_t), len -= sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        wide = _mm_crc32_u64(wide, word);
    }
    crc = (uint32_t)wide;
    for (; len; at++, len--)
        crc = _mm_crc32_u8(crc, *at);
    return crc;
}
#endif

uint32_t crc32c(uint32_t before, const void *data, size_t len) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~by_instruction(~before, data, len);
#endif
    return ~by_table(~before, data, len);
}
