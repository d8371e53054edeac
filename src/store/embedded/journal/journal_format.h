/* journal_format: the bytes of the journal, all numbers little-endian (docs/store.md draws them).
 *
 *   segment file:  | header block | group | group | … | bytes of an earlier life, or zeroes |
 *   group:         | group header | record header, bytes | record header, bytes | … | zeroes |
 *
 * Headers and groups start on a block. A group's checksum covers its segment and sequence number, a
 * record's its position, so bytes of a segment's earlier life cannot pass for its present one. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_FORMAT_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

enum {
    JOURNAL_BLOCK = 4096, /* a page: overwriting whole ones needs no read, and harms no neighbour */
    JOURNAL_HEADER_BYTES = 64,
    JOURNAL_GROUP_BYTES = 48,
    JOURNAL_RECORD_BYTES = 8,
};

struct journal_header {
    uint32_t version;
    uint64_t number;         /* of this segment; grows, is never used twice */
    uint64_t segment_bytes;  /* of every segment of this journal */
    uint64_t previous;       /* the segment whose groups stand before; 0: none */
    uint64_t previous_end;   /* the position where those groups end */
    uint64_t first_sequence; /* of the first group here */
    uint32_t salt;           /* of every group here */
};

struct journal_group {
    uint64_t sequence;
    uint64_t segment;
    uint64_t
        durable_end;  /* everything before this position was synced when the group was written */
    uint32_t payload; /* bytes of all records with their headers */
    uint32_t count;   /* of records */
    uint32_t salt;    /* the segment's: bodies, which strangers choose, cannot pass for groups */
};

void journal_format_put32(uint8_t *at, uint32_t value);
void journal_format_put64(uint8_t *at, uint64_t value);
uint64_t journal_format_get64(const uint8_t *at);

/* Whole blocks that a group with this payload takes. */
uint64_t journal_format_group_size(uint64_t payload);

/* `block` is JOURNAL_BLOCK bytes. */
void journal_format_put_header(uint8_t *block, const struct journal_header *header);
bool journal_format_get_header(const uint8_t *block, struct journal_header *out);

/* The payload stands behind the header already and is sealed by the checksum. */
void journal_format_put_group(uint8_t *at, const struct journal_group *group);
/* Reads the header alone; false when it is none of this format. */
bool journal_format_get_group(const uint8_t *at, struct journal_group *out);
/* Header and payload are what was written. */
bool journal_format_group_whole(const uint8_t *at, const struct journal_group *group);

/* Returns the bytes used. */
size_t journal_format_put_record(uint8_t *at, uint64_t position, struct bytes record);
/* Sets the header of a record whose bytes stand behind it already. */
void journal_format_seal_record(uint8_t *at, uint64_t position, uint32_t len);
uint32_t journal_format_record_len(const uint8_t *at);
/* `at` is the record's header with its bytes behind. */
bool journal_format_record_whole(const uint8_t *at, uint64_t position);

#endif
