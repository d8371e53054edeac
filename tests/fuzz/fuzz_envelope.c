/* fuzz_envelope: what was read once, from JSON or stored bytes, is stored and read again to the
 * same bytes. */
#include "fuzz.h"

#include "core/envelope/envelope.h"

enum { TEXT_MAX = 1 << 20 };

static void store(const struct envelope *envelope, struct buf *out) {
    buf_init_heap(out, TEXT_MAX);
    envelope_store(envelope, out);
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
    bool facts = envelope_restore_facts(text, &arena, &again, &err) == STATUS_OK;
    if (envelope_restore(text, &arena, &envelope, &err) == STATUS_OK) {
        FUZZ_CHECK(facts && bytes_eq(again.id, envelope.id));
        struct buf first, second;
        store(&envelope, &first);
        FUZZ_CHECK(envelope_restore(buf_view(&first), &arena, &again, &err) == STATUS_OK);
        store(&again, &second);
        FUZZ_CHECK(bytes_eq(buf_view(&first), buf_view(&second)));
        view(&envelope, ENVELOPE_ROW, BYTES_NONE);
        view(&envelope, ENVELOPE_WITH_BODY, bytes_cut(text, size / 2, size));
        buf_free(&first);
        buf_free(&second);
    }
    arena_free(&arena);
    return 0;
}
