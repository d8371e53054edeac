#include "store/embedded/journal/crc32c.h"

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
/* The instruction has a latency of three cycles and a throughput of one per cycle, so three streams
 * in parallel keep it busy. Their checksums are combined with linear algebra: a checksum advanced
 * over LANE zero bytes is the exclusive or of its four bytes, each advanced alone. */
enum { LANES = 3, LANE = 256, CRC_BYTES = 4 };

static uint32_t over_lane[CRC_BYTES][TABLE_SIZE];
static pthread_once_t lane_once = PTHREAD_ONCE_INIT;

static void fill_lane(void) {
    pthread_once(&table_once, fill_table);
    for (uint32_t place = 0; place < CRC_BYTES; place++) {
        for (uint32_t byte = 0; byte < TABLE_SIZE; byte++) {
            uint32_t crc = byte << (BITS_PER_BYTE * place);
            for (int i = 0; i < LANE; i++)
                crc = crc >> BITS_PER_BYTE ^ table[crc & (TABLE_SIZE - 1)];
            over_lane[place][byte] = crc;
        }
    }
}

static uint32_t move_over_lane(uint32_t crc) {
    uint32_t moved = 0;
    for (int place = 0; place < CRC_BYTES; place++)
        moved ^= over_lane[place][crc >> (BITS_PER_BYTE * place) & (TABLE_SIZE - 1)];
    return moved;
}

static uint64_t word_at(const uint8_t *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

__attribute__((target("sse4.2"))) static uint32_t by_lanes(uint32_t crc, const uint8_t *at) {
    uint64_t first = crc, second = 0, third = 0;
    for (size_t i = 0; i < LANE; i += sizeof(uint64_t)) {
        first = _mm_crc32_u64(first, word_at(at + i));
        second = _mm_crc32_u64(second, word_at(at + LANE + i));
        third = _mm_crc32_u64(third, word_at(at + 2 * LANE + i));
    }
    uint32_t both = move_over_lane((uint32_t)first) ^ (uint32_t)second;
    return move_over_lane(both) ^ (uint32_t)third;
}

__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *at,
                                                                 size_t len) {
    if (len >= (size_t)LANES * LANE)
        pthread_once(&lane_once, fill_lane);
    for (; len >= (size_t)LANES * LANE; at += LANES * LANE, len -= (size_t)LANES * LANE)
        crc = by_lanes(crc, at);
    uint64_t wide = crc;
    for (; len >= sizeof(uint64_t); at += sizeof(uint64_t), len -= sizeof(uint64_t))
        wide = _mm_crc32_u64(wide, word_at(at));
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
