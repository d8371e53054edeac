/* Whatever a producer sends, as one object and as NDJSON: it is refused with words, or every
 * message has an id, a hash and a body that lies inside the request or the arena. */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "server/api/json/push.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct push *push, enum status status, const struct err *err) {
    if (status != STATUS_OK) {
        assert(err->text[0]);
        return;
    }
    assert(push->count > 0);
    for (size_t i = 0; i < push->count; i++) {
        const struct push_item *item = &push->items[i];
        assert(item->envelope.id.len >= 1 && item->envelope.id.len <= PUSH_ID_MAX);
        assert(item->envelope.size == item->body.len);
        assert(strlen(item->envelope.content_hash) == 64);
        assert(item->repeat_of <= i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = {(const char *)data, size};
    struct arena arena;
    struct rng rng;
    struct push push;
    struct err err = {0};
    arena_init_heap(&arena, 4096);
    rng_seed(&rng, 1);
    struct push_context context = {.queue = BYTES("q"), .now = {1}, .rng = &rng, .arena = &arena};
    check(&push, push_parse_one(&context, text, &push, &err), &err);
    check(&push, push_parse_lines(&context, text, &push, &err), &err);
    arena_free(&arena);
    return 0;
}
