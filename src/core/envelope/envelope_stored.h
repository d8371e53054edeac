/* envelope_stored: what the bytes of a stored envelope are made of. All numbers little-endian.
 *
 *   0  u8  1: the version of this form
 *   1  …   members of the envelope, to the end
 *
 * A member is one byte, number × 4 + kind, and its value (envelope_fields.c has the numbers):
 *
 *   kind 0  number  zigzag (0, -1, 1, -2, …) in groups of seven bits, the lowest first; a byte
 *                   that others follow has bit 7 set. Times are milliseconds since 1970
 *   kind 1  text    its length in such groups of bits, then its bytes. Words are spelled out
 *   kind 2  part    u32 length, then: the members of a section; of headers, name and value in turn
 *                   as texts; of the history, for each line a u32 length and its members
 *
 * What is null, zero or empty is left out. A reader passes over numbers that it does not know. */
#ifndef CORE_ENVELOPE_ENVELOPE_STORED_H
#define CORE_ENVELOPE_ENVELOPE_STORED_H

#include "core/envelope/envelope_fields.h"

enum {
    STORED_VERSION = 1, /* the JSON of older stores begins with another byte */
    STORED_KIND_BITS = 2,
    STORED_PART_LENGTH = 4,
    STORED_GROUP_BITS = 7,
    STORED_MORE = 0x80,
};

enum stored_kind { STORED_NUMBER, STORED_TEXT, STORED_PART };

#endif
