#include "test.h"

#include "base/arena.h"
#include "base/containers/heap.h"
#include "base/containers/list.h"
#include "base/thread/mailbox.h"
#include "base/containers/map.h"
#include "base/rng.h"

struct item {
    struct heap_node due;
    struct map_node by_id;
    uint64_t id;
};

static void the_heap_gives_the_least_first_and_ties_by_number(void **state) {
    (void)state;
    enum { N = 1000 };
    static struct item items[N];
    struct heap heap = {0};
    struct rng rng;
    rng_seed(&rng, 7);
    for (size_t i = 0; i < N; i++) {
        items[i] = (struct item){.due = {.at = (int64_t)rng_below(&rng, 50), .tie = i}};
        heap_insert(&heap, &items[i].due);
    }
    for (size_t i = 0; i < N; i += 3)
        heap_remove(&heap, &items[i].due);
    heap_remove(&heap, &items[0].due);
    struct heap_node *before = NULL, *node;
    size_t seen = 0;
    while ((node = heap_first(&heap))) {
        heap_remove(&heap, node);
        if (before)
            assert_true(before->at < node->at ||
                        (before->at == node->at && before->tie < node->tie));
        before = node;
        seen++;
    }
    assert_int_equal(seen, N - (N + 2) / 3);
    heap_free(&heap);
}

static struct item *find(struct map *map, uint64_t hash, uint64_t id) {
    for (struct map_node *node = map_first(map, hash); node; node = map_next(node)) {
        struct item *item = CONTAINER_OF(node, struct item, by_id);
        if (item->id == id)
            return item;
    }
    return NULL;
}

static void the_map_finds_what_is_in_it_even_when_hashes_collide(void **state) {
    (void)state;
    enum { N = 500 };
    static struct item items[N];
    struct map map = {0};
    for (uint64_t i = 0; i < N; i++) {
        items[i].id = i;
        map_insert(&map, &items[i].by_id, i % 40);
    }
    for (uint64_t i = 0; i < N; i += 2)
        map_remove(&map, &items[i].by_id);
    for (uint64_t i = 0; i < N; i++)
        assert_true((find(&map, i % 40, i) != NULL) == (i % 2 == 1));
    assert_int_equal(map.count, N / 2);
    map_free(&map);
}

static void free_item(struct map_node *node) {
    free(CONTAINER_OF(node, struct item, by_id));
}

static void a_drained_map_is_empty_and_its_nodes_may_be_freed(void **state) {
    (void)state;
    struct map map = {0};
    for (uint64_t i = 0; i < 100; i++) {
        struct item *item = calloc(1, sizeof *item);
        assert_non_null(item);
        map_insert(&map, &item->by_id, i % 7);
    }
    map_drain(&map, free_item);
    assert_int_equal(map.count, 0);
    assert_null(map_first(&map, 3));
}

static void mail_comes_in_the_order_posted(void **state) {
    (void)state;
    struct mailbox box;
    struct mail mail[3];
    mailbox_init(&box);
    assert_null(mailbox_take(&box));
    for (size_t i = 0; i < 3; i++)
        mailbox_post(&box, &mail[i]);
    mailbox_wait(&box, MONO_NEVER);
    struct mail *got = mailbox_take(&box);
    for (size_t i = 0; i < 3; i++, got = got->next)
        assert_ptr_equal(got, &mail[i]);
    assert_null(got);
    mailbox_ring(&box);
    mailbox_wait(&box, MONO_NEVER);
    mailbox_take(&box);
    mailbox_free(&box);
}

static void an_arena_begins_with_the_memory_that_it_was_given(void **state) {
    (void)state;
    struct arena arena;
    char memory[64];
    memset(memory, 'x', sizeof memory);
    arena_init_heap_in(&arena, memory, sizeof memory, 32);
    struct bytes first = arena_dup(&arena, BYTES("first"));
    const char *zeroed = arena_alloc(&arena, 16);
    struct bytes large = arena_dup(&arena, (struct bytes){memory, sizeof memory});
    assert_true(first.ptr >= memory && zeroed > first.ptr && zeroed < memory + sizeof memory);
    assert_true(large.ptr < memory || large.ptr >= memory + sizeof memory);
    assert_string_equal(first.ptr, "first");
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(zeroed[i], 0);
    assert_true(bytes_eq(large, (struct bytes){memory, sizeof memory}));
    arena_free(&arena);
}

static void joined_texts_are_one_text(void **state) {
    (void)state;
    struct arena arena;
    char memory[64];
    arena_init_fixed(&arena, memory, sizeof memory);
    struct bytes much = {memory, sizeof memory / 2};
    struct bytes joined =
        arena_join(&arena, (struct bytes[]){BYTES("a/"), BYTES_NONE, BYTES("12")}, 3);
    assert_int_equal(joined.len, 4);
    assert_string_equal(joined.ptr, "a/12");
    assert_null(arena_join(&arena, (struct bytes[]){much, much}, 2).ptr);
    assert_string_equal(arena_join(&arena, NULL, 0).ptr, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_heap_gives_the_least_first_and_ties_by_number),
        cmocka_unit_test(the_map_finds_what_is_in_it_even_when_hashes_collide),
        cmocka_unit_test(a_drained_map_is_empty_and_its_nodes_may_be_freed),
        cmocka_unit_test(mail_comes_in_the_order_posted),
        cmocka_unit_test(an_arena_begins_with_the_memory_that_it_was_given),
        cmocka_unit_test(joined_texts_are_one_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
