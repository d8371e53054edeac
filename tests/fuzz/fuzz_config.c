/* Any bytes as impound.yaml: read or refused with mistakes, and what was read prints to a file that
 * reads back as itself. */
#include "fuzz.h"

#include "config/config.h"

enum { OUT_MAX = 64 << 20 };

static void print(const struct config *config, struct buf *out) {
    buf_init_heap(out, OUT_MAX);
    config_print(config, out);
    FUZZ_CHECK(!out->overflow);
}

static void check_round_trip(const struct config *config, struct buf *mistakes) {
    struct config *again;
    struct buf once, twice;
    print(config, &once);
    FUZZ_CHECK(config_parse(buf_view(&once), "again.yaml", &again, mistakes) == STATUS_OK);
    print(again, &twice);
    FUZZ_CHECK(bytes_eq(buf_view(&once), buf_view(&twice)));
    config_free(again);
    buf_free(&once);
    buf_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct config *config;
    struct buf mistakes;
    buf_init_heap(&mistakes, OUT_MAX);
    enum status status = config_parse(fuzz_text(data, size), "impound.yaml", &config, &mistakes);
    FUZZ_CHECK((status == STATUS_OK) == (mistakes.len == 0));
    if (status == STATUS_OK)
        check_round_trip(config, &mistakes);
    config_free(config);
    buf_free(&mistakes);
    return 0;
}
