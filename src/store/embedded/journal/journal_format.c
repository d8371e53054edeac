#include "store/embedded/journal/journal_format.h"

#include <string.h>

#include "store/embedded/journal/crc32c.h"
#include "store/embedded/journal/journal_file.h"

enum {
    HEADER_VERSION_AT = 8,
    HEADER_NUMBER_AT = 16,
    HEADER_SEGMENT_BYTES_AT = 24,
    HEADER_PREVIOUS_AT = 32,
    HEADER_PREVIOUS_END_AT = 40,
    HEADER_FIRST_SEQUENCE_AT = 48,
    HEADER_SALT_AT = 56,
    HEADER_CHECKSUM_AT = 60,
    GROUP_VERSION_AT = 4,
    GROUP_SEQUENCE_AT = 8,
    GROUP_SEGMENT_AT = 16,
    GROUP_DURABLE_END_AT = 24,
    GROUP_PAYLOAD_AT = 32,
    GROUP_COUNT_AT = 36,
    GROUP_SALT_AT = 40,
    GROUP_CHECKSUM_AT = 44,
    RECORD_CHECKSUM_AT = 4,
};

static const char header_magic[] = "impjrnal";
static const char group_magic[] = "grup";

void journal_format_put32(uint8_t *at, uint32_t value) {
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

void journal_format_put64(uint8_t *at, uint64_t value) {
    journal_format_put32(at, (uint32_t)value);
    journal_format_put32(at + 4, (uint32_t)(value >> 32));
}

static uint32_t get32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint64_t journal_format_get64(const uint8_t *at) {
    return get32(at) | (uint64_t)get32(at + 4) << 32;
}

uint64_t journal_format_group_size(uint64_t payload) {
    uint64_t bytes = JOURNAL_GROUP_BYTES + payload;
    return (bytes + JOURNAL_BLOCK - 1) / JOURNAL_BLOCK * JOURNAL_BLOCK;
}

void journal_format_put_header(uint8_t *block, const struct journal_header *header) {
    memset(block, 0, JOURNAL_BLOCK);
    memcpy(block, header_magic, sizeof header_magic - 1);
    journal_format_put32(block + HEADER_VERSION_AT, header->version);
    journal_format_put64(block + HEADER_NUMBER_AT, header->number);
    journal_format_put64(block + HEADER_SEGMENT_BYTES_AT, header->segment_bytes);
    journal_format_put64(block + HEADER_PREVIOUS_AT, header->previous);
    journal_format_put64(block + HEADER_PREVIOUS_END_AT, header->previous_end);
    journal_format_put64(block + HEADER_FIRST_SEQUENCE_AT, header->first_sequence);
    journal_format_put32(block + HEADER_SALT_AT, header->salt);
    journal_format_put32(block + HEADER_CHECKSUM_AT, crc32c(0, block, HEADER_CHECKSUM_AT));
}

bool journal_format_get_header(const uint8_t *block, struct journal_header *out) {
    if (memcmp(block, header_magic, sizeof header_magic - 1) != 0 ||
        get32(block + HEADER_CHECKSUM_AT) != crc32c(0, block, HEADER_CHECKSUM_AT))
        return false;
    *out = (struct journal_header){
        .version = get32(block + HEADER_VERSION_AT),
        .number = journal_format_get64(block + HEADER_NUMBER_AT),
        .segment_bytes = journal_format_get64(block + HEADER_SEGMENT_BYTES_AT),
        .previous = journal_format_get64(block + HEADER_PREVIOUS_AT),
        .previous_end = journal_format_get64(block + HEADER_PREVIOUS_END_AT),
        .first_sequence = journal_format_get64(block + HEADER_FIRST_SEQUENCE_AT),
        .salt = get32(block + HEADER_SALT_AT),
    };
    return true;
}

static uint32_t group_checksum(const uint8_t *at, uint32_t payload) {
    return crc32c(crc32c(0, at, GROUP_CHECKSUM_AT), at + JOURNAL_GROUP_BYTES, payload);
}

void journal_format_put_group(uint8_t *at, const struct journal_group *group) {
    memset(at, 0, JOURNAL_GROUP_BYTES);
    memcpy(at, group_magic, sizeof group_magic - 1);
    journal_format_put32(at + GROUP_VERSION_AT, JOURNAL_FORMAT_VERSION);
    journal_format_put64(at + GROUP_SEQUENCE_AT, group->sequence);
    journal_format_put64(at + GROUP_SEGMENT_AT, group->segment);
    journal_format_put64(at + GROUP_DURABLE_END_AT, group->durable_end);
    journal_format_put32(at + GROUP_PAYLOAD_AT, group->payload);
    journal_format_put32(at + GROUP_COUNT_AT, group->count);
    journal_format_put32(at + GROUP_SALT_AT, group->salt);
    journal_format_put32(at + GROUP_CHECKSUM_AT, group_checksum(at, group->payload));
}

bool journal_format_get_group(const uint8_t *at, struct journal_group *out) {
    if (memcmp(at, group_magic, sizeof group_magic - 1) != 0 ||
        get32(at + GROUP_VERSION_AT) != JOURNAL_FORMAT_VERSION)
        return false;
    *out = (struct journal_group){
        .sequence = journal_format_get64(at + GROUP_SEQUENCE_AT),
        .segment = journal_format_get64(at + GROUP_SEGMENT_AT),
        .durable_end = journal_format_get64(at + GROUP_DURABLE_END_AT),
        .payload = get32(at + GROUP_PAYLOAD_AT),
        .count = get32(at + GROUP_COUNT_AT),
        .salt = get32(at + GROUP_SALT_AT),
    };
    return true;
}

bool journal_format_group_whole(const uint8_t *at, const struct journal_group *group) {
    return get32(at + GROUP_CHECKSUM_AT) == group_checksum(at, group->payload);
}

static uint32_t record_checksum(const uint8_t *at, uint64_t position) {
    uint8_t where[sizeof position];
    journal_format_put64(where, position);
    uint32_t crc = crc32c(crc32c(0, where, sizeof where), at, RECORD_CHECKSUM_AT);
    return crc32c(crc, at + JOURNAL_RECORD_BYTES, get32(at));
}

size_t journal_format_put_record(uint8_t *at, uint64_t position, struct bytes record) {
    if (record.len)
        memcpy(at + JOURNAL_RECORD_BYTES, record.ptr, record.len);
    journal_format_seal_record(at, position, (uint32_t)record.len);
    return JOURNAL_RECORD_BYTES + record.len;
}

void journal_format_seal_record(uint8_t *at, uint64_t position, uint32_t len) {
    journal_format_put32(at, len);
    journal_format_put32(at + RECORD_CHECKSUM_AT, record_checksum(at, position));
}

uint32_t journal_format_record_len(const uint8_t *at) {
    return get32(at);
}

bool journal_format_record_whole(const uint8_t *at, uint64_t position) {
    return get32(at + RECORD_CHECKSUM_AT) == record_checksum(at, position);
}
