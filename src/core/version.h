/* version: dotted numbers by which releases of a consumer are compared. Pure.
 *
 * A version is numbers with dots between them, of which the first four count and missing ones are
 * 0: "1.4" equals "1.4.0". A "v" in front is passed over, and so is everything behind the numbers:
 * "v1.4.2-rc1+7" is 1.4.2. What begins with no number has no version, and matches nothing. */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#include "base/bytes.h"

enum { VERSION_NUMBERS = 4, VERSION_TEXT_MAX = 64 };

struct version_rule {
    enum version_compare { VERSION_AT_LEAST, VERSION_ABOVE, VERSION_EQUAL } compare;
    uint64_t numbers[VERSION_NUMBERS];
};

/* ">= 1.4" "> 1.4" "= 1.4.2"; spaces may be left out. False: it is none. */
bool version_rule_parse(struct bytes text, struct version_rule *out);
bool version_matches(const struct version_rule *rule, struct bytes version);

#endif
