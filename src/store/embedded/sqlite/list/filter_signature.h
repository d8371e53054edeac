/* filter_signature: the properties by which letters are filtered, packed into one integer
 * (letter_traits) in the index of their deaths.
 *
 * A filter that few letters match would have to read every row. The index is a tenth of the rows,
 * so a list scans it alone and reads a row only if the signature may match. Most parts of it are
 * the start of a hash, so the row itself is compared too.
 *
 *   bit  0         1 … 6   7 … 12  13 … 21   22 … 30  31 … 39     40 … 48      49 … 57  58 … 62
 *        escalated cause   queue   category  reason   error_type  fingerprint  key      attempts
 *
 * The signatures are stored in the file: a change of this layout needs a step in schema.c that
 * computes them again. */
#ifndef STORE_EMBEDDED_SQLITE_FILTER_SIGNATURE_H
#define STORE_EMBEDDED_SQLITE_FILTER_SIGNATURE_H

#include <sqlite3.h>

#include "core/envelope/envelope.h"
#include "port/letters.h"

/* name, first bit, bits */
#define TRAITS(X)                                                                                  \
    X(ESCALATED, 0, 1)                                                                             \
    X(CAUSE, 1, 6)                                                                                 \
    X(QUEUE, 7, 6)                                                                                 \
    X(CATEGORY, 13, 9)                                                                             \
    X(REASON, 22, 9)                                                                               \
    X(ERROR_TYPE, 31, 9)                                                                           \
    X(FINGERPRINT, 40, 9)                                                                          \
    X(KEY, 49, 9)                                                                                  \
    X(ATTEMPTS, 58, 5) /* the highest bits, so that "at least" can compare the whole integer */

#define TRAIT_ENUM(name, first, bits) TRAIT_##name,
enum trait { TRAITS(TRAIT_ENUM) TRAIT_COUNT };
#undef TRAIT_ENUM

/* The number of values of a part. */
enum { FILTER_SIGNATURE_VALUES = 512 };

int64_t filter_signature_of(const struct envelope *envelope, uint32_t queue);
uint32_t filter_signature_part(int64_t traits, enum trait trait);
int64_t filter_signature_escalated(void); /* the bit that is added for an escalated letter */

/* The condition of a query: traits & mask = value and traits >= least. Reasons are filtered by
 * prefix, so the distinct reasons must be known. */
struct filter_signature_wanted {
    int64_t mask, value, least;
};
struct filter_signature_wanted filter_signature_wanted(const struct letters_query *query,
                                                       uint32_t queue);
bool filter_signature_is_wanted(const struct filter_signature_wanted *wanted, enum trait trait);
int64_t filter_signature_reason_mask(void);
int64_t filter_signature_reason(struct bytes reason);

/* Registers the SQL function letter_traits(queue, cause, category, reason, error_type, fingerprint,
 * key, attempts, escalated_ms), for rows of schema versions without signatures. */
enum status filter_signature_register(sqlite3 *db, struct err *err);

#endif
