/* A rate on the first line, then the two texts of a part of a replay, with a line "--" between
 * them: taken, or refused; what is taken is written again as it can be read. */
#include "fuzz.h"

#include "triage/replay/replay_order.h"
#include "triage/replay/replay_part.h"

static void check_rate(struct bytes text) {
    struct replay_rate rate, again;
    char memory[64];
    struct buf out;
    if (!replay_rate_parse(text, &rate))
        return;
    buf_init_fixed(&out, memory, sizeof memory);
    replay_rate_put(&rate, &out);
    FUZZ_CHECK(!out.overflow && replay_rate_parse(buf_view(&out), &again));
    FUZZ_CHECK(again.kind == rate.kind);
}

static void check_again(const struct replay_part *part) {
    struct arena arena;
    struct err err;
    arena_init_heap(&arena, 1024);
    struct wall now = {1700000000000};
    struct store_op letters = replay_part_letters_op(part, "id", now, &arena);
    struct store_op outcomes = replay_part_outcomes_op(part, "id", now, &arena);
    struct replay_part *again = replay_part_new(part->number);
    FUZZ_CHECK(replay_part_decode(letters.keep.value, outcomes.keep.value, again, &err) ==
               STATUS_OK);
    FUZZ_CHECK(again->count == part->count);
    for (uint32_t i = 0; i < part->count; i++)
        FUZZ_CHECK(replay_part_outcome(part, i) == replay_part_outcome(again, i));
    replay_part_free(again);
    arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = fuzz_text(data, size), rate = BYTES_NONE;
    struct err err = {STATUS_OK, ""};
    bytes_line(&rest, &rate);
    check_rate(rate);
    size_t split = bytes_find(rest, BYTES("\n--\n"));
    struct replay_part *part = replay_part_new(7);
    enum status status = replay_part_decode(
        bytes_cut(rest, 0, split),
        split < rest.len ? bytes_cut(rest, split + 4, rest.len) : BYTES_NONE, part, &err);
    FUZZ_CHECK(status == STATUS_OK || (status == STATUS_CORRUPT && err.text[0]));
    if (status == STATUS_OK)
        check_again(part);
    replay_part_free(part);
    return 0;
}
