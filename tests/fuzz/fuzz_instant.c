/* fuzz_instant: times, durations and sizes that are read are written to a text that reads the same.
 */
#include "fuzz.h"

#include "base/instant.h"

/* Years of four digits, which is what RFC 3339 can spell. */
static const int64_t year_1000 = -30610224000000, year_10000 = 253402300800000;

static void check_wall(struct bytes text, bool (*parse)(struct bytes, struct wall *)) {
    struct wall at, back;
    char written[INSTANT_TEXT_SIZE];
    if (!parse(text, &at) || at.ms < year_1000 || at.ms >= year_10000)
        return;
    FUZZ_CHECK(wall_parse(bytes_of(wall_text(at, written)), &back) && back.ms == at.ms);
}

static void check_duration(struct bytes text) {
    char memory[64];
    struct buf buf;
    int64_t ms, back;
    buf_init_fixed(&buf, memory, sizeof memory);
    if (!duration_parse(text, &ms))
        return;
    duration_put(&buf, ms);
    FUZZ_CHECK(!buf.overflow && duration_parse(buf_view(&buf), &back) && back == ms);
}

static void check_size(struct bytes text) {
    char memory[64];
    struct buf buf;
    uint64_t size, back;
    buf_init_fixed(&buf, memory, sizeof memory);
    if (!size_parse(text, &size))
        return;
    size_put(&buf, size);
    FUZZ_CHECK(!buf.overflow && size_parse(buf_view(&buf), &back) && back == size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    check_wall(text, wall_parse);
    check_wall(text, wall_parse_utc);
    check_wall(text, wall_parse_http);
    check_duration(text);
    check_size(text);
    return 0;
}
