/* Whatever is reported as failed: refused with words, or a message with an id and an outcome. */
#include "fuzz.h"

#include "server/api/json/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct json object;
    struct err err = {STATUS_OK, ""};
    struct outcome outcome;
    if (json_parse(fuzz_text(data, size), &object, NULL) != STATUS_OK)
        return 0;
    struct message *held = message_new();
    enum status status =
        report_parse(object, BYTES("q"), (struct wall){1700000000000}, held, &outcome, &err);
    FUZZ_CHECK(status == STATUS_OK || err.text[0]);
    if (status == STATUS_OK) {
        FUZZ_CHECK(held->envelope.id.len >= 1 && held->envelope.attempts >= 1);
        FUZZ_CHECK(outcome.ending == ENDING_FAILED);
    }
    message_free(held);
    return 0;
}
