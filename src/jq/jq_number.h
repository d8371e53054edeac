/* jq_number: which numbers a double cannot hold.
 *
 * A number is plain if the shortest text of its double has the same value as the original text:
 * 0.1, 1.50 and 2^53 are plain; 2^53+1, 2^64 and 1e400 are not, because jq would print another
 * number. */
#ifndef JQ_JQ_NUMBER_H
#define JQ_JQ_NUMBER_H

#include "base/buf.h"

/* The length of the number at the start of `text` (jq's syntax: JSON's, and also "1." and ".5"); 0:
 * none. */
size_t jq_number_scan(struct bytes text);
bool jq_number_is_plain(struct bytes number);
/* Appends the canonical form, a JSON number that is the same for all texts of equal value: 1.50e1 →
 * 15. */
void jq_number_put(struct bytes number, struct buf *out);

#endif
