/* fuzz_json: what json_parse takes and refuses is compared with jansson, another reader of RFC
 * 8259; what was taken is walked to its last value. */
#include "fuzz.h"

#include <string.h>

#include "base/json/json.h"
#include "oracle.h"

/* Our own limit is the depth of nesting. A text that jansson gives up on may be either. */
static void compare(struct bytes text, enum status got, const struct err *err) {
    enum oracle opinion = oracle_json(text.ptr, text.len);
    if (got == STATUS_OK)
        FUZZ_CHECK(opinion != ORACLE_REFUSES);
    else
        FUZZ_CHECK(opinion != ORACLE_TAKES || strstr(err->text, "nested deeper"));
}

static void walk(struct json value, struct arena *arena) {
    struct bytes text;
    int64_t number;
    bool flag;
    FUZZ_CHECK(json_string(value, arena, &text) == (value.type == JSON_STRING));
    if (value.type == JSON_STRING)
        FUZZ_CHECK(bytes_is_utf8(text));
    FUZZ_CHECK(!json_i64(value, &number) || value.type == JSON_NUMBER);
    FUZZ_CHECK(!json_bool(value, &flag) || value.type == JSON_TRUE || value.type == JSON_FALSE);
    for (struct json_walk w = json_walk(value); json_step(&w);) {
        struct json again;
        FUZZ_CHECK(json_parse(w.value.text, &again, NULL) == STATUS_OK &&
                   again.type == w.value.type);
        FUZZ_CHECK(json_unescape(w.key, arena, &text));
        if (w.value.type != JSON_ARRAY && w.value.type != JSON_OBJECT)
            walk(w.value, arena);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct json value;
    struct err err;
    struct arena arena;
    enum status got = json_parse(text, &value, &err);
    compare(text, got, &err);
    if (got != STATUS_OK)
        return 0;
    arena_init_heap(&arena, 4096);
    walk(value, &arena);
    arena_free(&arena);
    return 0;
}
