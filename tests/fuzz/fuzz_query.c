/* Any words as a filter, "name=value" a line: taken, or refused with words. */
#include "fuzz.h"

#include "triage/query/query.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes rest = fuzz_text(data, size), line;
    struct arena arena;
    struct query query;
    arena_init_heap(&arena, 1024);
    query_init(&query, QUERY_LETTERS);
    while (bytes_line(&rest, &line)) {
        size_t equals = bytes_find(line, BYTES("="));
        struct err err = {STATUS_OK, ""};
        enum status status =
            query_set(&query, bytes_cut(line, 0, equals), bytes_cut(line, equals + 1, line.len),
                      (struct wall){1700000000000}, &arena, &err);
        FUZZ_CHECK(status == STATUS_OK || (status == STATUS_INVALID && err.text[0]));
    }
    query_finish(&query);
    FUZZ_CHECK(query.filter.limit >= 1 && query.filter.limit <= QUERY_LIMIT_MAX);
    FUZZ_CHECK(query.filter.states != 0);
    arena_free(&arena);
    return 0;
}
