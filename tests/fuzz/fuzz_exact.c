/* Any JSON through jq's marks and back is JSON of the same type, and going through again changes
 * nothing more (numbers have one spelling then); any program is marked without harm. */
#include "fuzz.h"

#include "base/json/json.h"
#include "jq/jq_exact.h"

enum { OUT_MAX = 16 << 20 };

/* False when there was nothing to mark. */
static bool through(const struct jq_exact *exact, struct bytes text, struct buf *back) {
    struct buf marked;
    buf_init_heap(&marked, OUT_MAX);
    buf_init_heap(back, OUT_MAX);
    bool any = jq_exact_input(exact, text, &marked);
    if (any)
        jq_exact_output(exact, buf_view(&marked), back);
    buf_free(&marked);
    return any;
}

static void check_input(const struct jq_exact *exact, struct bytes text) {
    struct json value, again;
    struct buf once, twice;
    if (json_parse(text, &value, NULL) != STATUS_OK)
        return;
    if (through(exact, value.text, &once)) {
        FUZZ_CHECK(json_parse(buf_view(&once), &again, NULL) == STATUS_OK);
        FUZZ_CHECK(again.type == value.type);
        FUZZ_CHECK(through(exact, buf_view(&once), &twice));
        FUZZ_CHECK(bytes_eq(buf_view(&once), buf_view(&twice)));
        buf_free(&twice);
    }
    buf_free(&once);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct jq_exact exact;
    struct buf program;
    jq_exact_init(&exact);
    check_input(&exact, fuzz_text(data, size));
    buf_init_heap(&program, OUT_MAX);
    jq_exact_program(&exact, fuzz_text(data, size), true, &program);
    buf_free(&program);
    return 0;
}
