/* Any JSON through jq's marks and back is itself; any program is marked without harm. */
#include "fuzz.h"

#include "base/json.h"
#include "jq/jq_exact.h"

enum { OUT_MAX = 16 << 20 };

static void check_input(const struct jq_exact *exact, struct bytes text) {
    struct json value;
    struct buf marked, back;
    if (json_parse(text, &value, NULL) != STATUS_OK)
        return;
    buf_init_heap(&marked, OUT_MAX);
    buf_init_heap(&back, OUT_MAX);
    if (jq_exact_input(exact, value.text, &marked)) {
        jq_exact_output(exact, buf_view(&marked), &back);
        FUZZ_CHECK(bytes_eq(buf_view(&back), value.text));
    }
    buf_free(&marked);
    buf_free(&back);
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
