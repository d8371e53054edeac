/* journal_format: the bytes of the journal, all numbers little-endian (docs/store.md draws them).
 *
 *   segment file:  | header block | group | group | … | bytes of an earlier use, or zeroes |
 *   group:         | group header | record header, bytes | record header, bytes | … | zeroes |
 *
 * Headers and groups start on a block. A group's checksum covers its segment and sequence number, a
 * record's its position, so that bytes from an earlier use of the file are never taken for current
 * ones. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_FORMAT_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    /* A page: overwriting whole pages needs no read, and cannot damage adjacent data. */
    JOURNAL_BLOCK = 4096,
    JOURNAL_HEADER_BYTES = 64,
    JOURNAL_GROUP_BYTES = 48,
    JOURNAL_RECORD_BYTES = 8,
};

struct journal_header {
    uint32_t version;
    uint64_t number;         /* of this segment; grows, never reused */
    uint64_t segment_bytes;  /* the same for every segment of this journal */
    uint64_t previous;       /* the number of the previous segment; 0: none */
    uint64_t previous_end;   /* the position at which its groups end */
    uint64_t first_sequence; /* sequence number of the first group in this segment */
    uint32_t salt;           /* of every group in this segment */
};

struct journal_group {
    uint64_t sequence;
    uint64_t segment;
    uint64_t
        durable_end;  /* everything before this position was synced when the group was written */
    uint32_t payload; /* size of all records with their headers */
    uint32_t count;   /* number of records */
    /* The segment's salt: message bodies, which others choose, cannot imitate a group. */
    uint32_t salt;
};

void journal_format_put32(uint8_t *at, uint32_t value);
void journal_format_put64(uint8_t *at, uint64_t value);
uint64_t journal_format_get64(const uint8_t *at);

/* The size of a group with this payload, in whole blocks. */
uint64_t journal_format_group_size(uint64_t payload);

/* `block` is JOURNAL_BLOCK bytes. */
void journal_format_put_header(uint8_t *block, const struct journal_header *header);
bool journal_format_get_header(const uint8_t *block, struct journal_header *out);

/* The payload must follow the header already; the checksum covers it. */
void journal_format_put_group(uint8_t *at, const struct journal_group *group);
/* Reads the header alone; false if it is not a group header. */
bool journal_format_get_group(const uint8_t *at, struct journal_group *out);
/* True if header and payload match their checksums. */
bool journal_format_group_whole(const uint8_t *at, const struct journal_group *group);

/* Returns the number of bytes used. */
size_t journal_format_put_record(uint8_t *at, uint64_t position, struct bytes record);
/* Writes the header of a record whose bytes follow it already. */
void journal_format_seal_record(uint8_t *at, uint64_t position, uint32_t len);
uint32_t journal_format_record_len(const uint8_t *at);
/* `at` is the record's header, followed by its bytes. */
bool journal_format_record_whole(const uint8_t *at, uint64_t position);

#endif
