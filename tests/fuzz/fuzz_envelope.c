/* fuzz_envelope: what was decoded once is written and read again to the same text. */
#include "fuzz.h"

#include "core/envelope.h"

enum { TEXT_MAX = 1 << 20 };

static void encode(const struct envelope *envelope, struct buf *out) {
    buf_init_heap(out, TEXT_MAX);
    envelope_encode(envelope, ENVELOPE_STORED, BYTES_NONE, out);
    FUZZ_CHECK(!out->overflow);
}

static void view(const struct envelope *envelope, enum envelope_part part, struct bytes body) {
    struct buf out;
    struct json value;
    buf_init_heap(&out, TEXT_MAX);
    envelope_encode(envelope, part, body, &out);
    FUZZ_CHECK(!out.overflow && json_parse(buf_view(&out), &value, NULL) == STATUS_OK);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct arena arena;
    struct envelope envelope, again;
    struct err err;
    arena_init_heap(&arena, 1 << 16);
    if (envelope_decode(text, &arena, &envelope, &err) == STATUS_OK) {
        struct buf first, second;
        encode(&envelope, &first);
        FUZZ_CHECK(envelope_decode(buf_view(&first), &arena, &again, &err) == STATUS_OK);
        encode(&again, &second);
        FUZZ_CHECK(bytes_eq(buf_view(&first), buf_view(&second)));
        view(&envelope, ENVELOPE_ROW, BYTES_NONE);
        view(&envelope, ENVELOPE_WITH_BODY, bytes_cut(text, size / 2, size));
        buf_free(&first);
        buf_free(&second);
    }
    arena_free(&arena);
    return 0;
}
