/* version: compares releases of a consumer by dotted numbers. Pure.
 *
 * A version is numbers separated by dots, of which the first four count and missing ones are 0:
 * "1.4" equals "1.4.0". A leading "v" is skipped, and so is everything after the numbers:
 * "v1.4.2-rc1+7" is 1.4.2. A text without a leading number has no version, and matches nothing. */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#include "base/bytes.h"

enum { VERSION_NUMBERS = 4, VERSION_TEXT_MAX = 64 };

struct version_rule {
    enum version_compare { VERSION_AT_LEAST, VERSION_ABOVE, VERSION_EQUAL } compare;
    uint64_t numbers[VERSION_NUMBERS];
};

/* ">= 1.4" "> 1.4" "= 1.4.2"; spaces are optional. False: not a version rule. */
bool version_rule_parse(struct bytes text, struct version_rule *out);
bool version_matches(const struct version_rule *rule, struct bytes version);

#endif
