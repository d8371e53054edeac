/* Whatever a server says of when to come back: no crash, and no negative time. The
 * first line is a header's name, the second its value, the rest a text. */
#include <stdlib.h>

#include "handler/http/retry_after.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int64_t ms) {
    if (ms < -1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = {(const char *)data, size};
    struct rule_header headers[2] = {{BYTES_NONE, BYTES_NONE},
                                     {BYTES("x-ratelimit-remaining-tokens"), BYTES("0")}};
    struct wall now = {1794830400000};
    bytes_line(&rest, &headers[0].name);
    bytes_line(&rest, &headers[0].value);
    check(retry_after_headers(headers, 2, now));
    check(retry_after_resets(headers, 2, now));
    check(retry_after_text(rest));
    int64_t ms;
    if (retry_after_duration(headers[0].value, &ms))
        check(ms);
    return 0;
}
