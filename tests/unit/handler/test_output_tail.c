#include "handler/exec/output_tail.h"

#include <stdio.h>

#include "base/memory.h"
#include "test.h"

static void a_tail_keeps_the_last_bytes_in_order(void **state) {
    (void)state;
    struct tail tail = {0};
    struct arena arena;
    arena_init_heap(&arena, 1024);
    assert_int_equal(tail_text(&tail, &arena).len, 0);
    for (int i = 0; i < 50000; i++) {
        char line[16];
        snprintf(line, sizeof line, "%06d\n", i);
        tail_put(&tail, bytes_of(line));
    }
    struct bytes text = tail_text(&tail, &arena);
    assert_int_equal(text.len, TAIL_MAX);
    assert_true(bytes_ends(text, BYTES("049998\n049999\n")));
    char *flood = memory_new(TAIL_MAX + 10);
    memset(flood, 'y', TAIL_MAX + 10);
    flood[10] = 'z';
    tail_put(&tail, (struct bytes){flood, TAIL_MAX + 10});
    text = tail_text(&tail, &arena);
    assert_int_equal(text.len, TAIL_MAX);
    assert_int_equal(text.ptr[0], 'z');
    assert_int_equal(text.ptr[1], 'y');
    free(flood);
    tail_free(&tail);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tail_keeps_the_last_bytes_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
