/* Any bytes as the limit of an alert rule: refused, or a finite number that is not negative. */
#include "fuzz.h"

#include <math.h>

#include "config/triage/config_limit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    double value = 0;
    enum config_limit_unit unit;
    if (!config_limit_parse(fuzz_text(data, size), &value, &unit))
        return 0;
    FUZZ_CHECK(isfinite(value) && value >= 0);
    FUZZ_CHECK(unit == LIMIT_NUMBER || unit == LIMIT_DURATION || unit == LIMIT_PER_MINUTE ||
               unit == LIMIT_SHARE);
    return 0;
}
