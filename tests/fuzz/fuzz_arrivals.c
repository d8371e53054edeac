/* Whatever is kept as arrivals: refused with words, or taken and written as it reads. */
#include "fuzz.h"

#include "triage/groups/arrivals_state.h"

static struct buf written(struct bytes text, enum status *status) {
    struct arrivals arrivals = {.triage = NULL};
    struct err err = {STATUS_OK, ""};
    struct buf out;
    arrivals_clear(&arrivals);
    buf_init_heap(&out, (size_t)1 << 26);
    *status = arrivals_take(&arrivals, text, &err);
    FUZZ_CHECK(*status == STATUS_OK || err.text[0]);
    if (*status == STATUS_OK)
        arrivals_put(&arrivals, &out);
    arrivals_clear(&arrivals);
    return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum status status, again = STATUS_OK;
    struct buf first = written(fuzz_text(data, size), &status);
    if (status == STATUS_OK) {
        struct buf second = written(buf_view(&first), &again);
        FUZZ_CHECK(again == STATUS_OK && bytes_eq(buf_view(&first), buf_view(&second)));
        buf_free(&second);
    }
    buf_free(&first);
    return 0;
}
