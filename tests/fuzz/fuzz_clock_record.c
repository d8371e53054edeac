/* The record of the clock that a start finds: none of ours, or numbers within bounds whose leap is
 * not negative. */
#include "store/clock_record.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct clock_record record, now = {.since_boot_ms = 5000, .wall_ms = 1700000000000};
    if (!clock_record_parse((struct bytes){(const char *)data, size}, &record))
        return 0;
    FUZZ_CHECK(record.since_boot_ms >= 0 && record.since_boot_ms <= 1ll << 53);
    FUZZ_CHECK(record.wall_ms >= 0 && record.wall_ms <= 1ll << 53);
    FUZZ_CHECK(record.boot[sizeof record.boot - 1] == '\0');
    for (size_t i = 0; i < sizeof now.boot; i++)
        now.boot[i] = record.boot[i];
    FUZZ_CHECK(clock_record_ahead(&record, &now) >= 0);
    return 0;
}
