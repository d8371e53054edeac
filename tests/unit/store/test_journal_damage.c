/* Torn tails are cut; damage before them is found, named and survived by salvage. */
#include "test.h"

#include <stdio.h>

#include "journal_world.h"
#include "sim_disk.h"

enum { FIRST_GROUP = JOURNAL_BLOCK };

static const char first_segment[] = "/sim/db.d/0000000000000001.seg";
static const char second_segment[] = "/sim/db.d/0000000000000002.seg";

struct lab {
    struct sim_disk *sim;
    struct disk *disk;
    struct journal_world world;
    struct buf report;
};

static int enter(void **state) {
    struct lab *lab = calloc(1, sizeof *lab);
    assert_non_null(lab);
    lab->sim = sim_disk_new(11);
    lab->disk = sim_disk_port(lab->sim);
    assert_int_equal(lab->disk->vtable->make_dir(lab->disk, "/sim"), 0);
    journal_world_init(&lab->world, lab->disk, "/sim/db.d");
    buf_init_heap(&lab->report, 1 << 16);
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
    *state = lab;
    return 0;
}

static int leave(void **state) {
    struct lab *lab = *state;
    journal_world_free(&lab->world);
    buf_free(&lab->report);
    sim_disk_free(lab->sim);
    free(lab);
    return 0;
}

static void peek(struct lab *lab, const char *path, uint64_t at, void *to, size_t len) {
    struct disk_file *file;
    assert_int_equal(lab->disk->vtable->open(lab->disk, path, 0, &file), 0);
    assert_int_equal(lab->disk->vtable->read(lab->disk, file, at, to, len), 0);
    lab->disk->vtable->close(lab->disk, file);
}

static void poke(struct lab *lab, const char *path, uint64_t at, const void *from, size_t len) {
    struct disk_file *file;
    assert_int_equal(lab->disk->vtable->open(lab->disk, path, 0, &file), 0);
    assert_int_equal(lab->disk->vtable->write(lab->disk, file, at, from, len), 0);
    assert_int_equal(lab->disk->vtable->sync(lab->disk, file), 0);
    lab->disk->vtable->close(lab->disk, file);
}

static enum status verify(struct lab *lab) {
    journal_world_close(&lab->world);
    journal_world_forget(&lab->world);
    buf_clear(&lab->report);
    return journal_verify(&lab->world.options, &lab->report, journal_world_see, &lab->world,
                          &lab->world.err);
}

/* The last group is written up to each of its bytes in turn, over zeroes or over an earlier group.
 */
static void tear_everywhere(struct lab *lab, const char *path, uint64_t at, const uint8_t *before,
                            const char *without, const char *with) {
    uint8_t group[JOURNAL_BLOCK], torn[JOURNAL_BLOCK];
    size_t bytes = JOURNAL_GROUP_BYTES + JOURNAL_RECORD_BYTES + strlen("tail");
    peek(lab, path, at, group, sizeof group);
    for (size_t cut = 0; cut <= bytes; cut++) {
        memcpy(torn, group, cut);
        memcpy(torn + cut, before + cut, sizeof torn - cut);
        bool whole = memcmp(torn, group, bytes) == 0;
        assert_true(whole || cut < bytes);
        poke(lab, path, at, torn, sizeof torn);
        assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
        journal_world_expect(&lab->world, whole ? with : without);
        assert_int_equal(verify(lab), STATUS_OK);
        journal_world_expect(&lab->world, whole ? with : without);
    }
}

static void a_group_torn_at_any_byte_is_cut(void **state) {
    struct lab *lab = *state;
    journal_world_commit(&lab->world, "a");
    journal_world_commit(&lab->world, "b");
    journal_world_commit(&lab->world, "tail");
    journal_world_close(&lab->world);
    uint8_t zeroes[JOURNAL_BLOCK] = {0};
    tear_everywhere(lab, first_segment, FIRST_GROUP + 2 * JOURNAL_BLOCK, zeroes, "a b", "a b tail");
}

static void a_group_torn_over_an_earlier_one_is_cut(void **state) {
    struct lab *lab = *state;
    uint8_t earlier[JOURNAL_BLOCK];
    journal_world_commit(&lab->world, "a");
    journal_world_commit(&lab->world, "body");
    peek(lab, first_segment, FIRST_GROUP + JOURNAL_BLOCK, earlier, sizeof earlier);
    /* The second life of the same file: what stands behind the new end is the first one's. */
    for (int i = 2; i <= 7; i++)
        journal_world_commit(&lab->world, "filler");
    journal_recycle(lab->world.journal, journal_end(lab->world.journal), &lab->world.err);
    for (int i = 0; i < 7; i++)
        journal_world_commit(&lab->world, "filler");
    uint64_t from = journal_world_commit(&lab->world, "c");
    journal_world_commit(&lab->world, "tail");
    const char third_segment[] = "/sim/db.d/0000000000000003.seg";
    assert_false(sim_disk_exists(lab->sim, first_segment));
    uint64_t at = from % JOURNAL_WORLD_SEGMENT / JOURNAL_BLOCK * JOURNAL_BLOCK + JOURNAL_BLOCK;
    uint8_t group[JOURNAL_BLOCK];
    peek(lab, third_segment, at, group, sizeof group);
    poke(lab, third_segment, at, earlier, sizeof earlier);
    assert_int_equal(journal_world_open(&lab->world, from), STATUS_OK);
    journal_world_expect(&lab->world, "c");
    journal_world_close(&lab->world);
    for (size_t cut = 0; cut < JOURNAL_GROUP_BYTES + JOURNAL_RECORD_BYTES + 4; cut++) {
        poke(lab, third_segment, at, earlier, sizeof earlier);
        poke(lab, third_segment, at, group, cut);
        assert_int_equal(journal_world_open(&lab->world, from), STATUS_OK);
        journal_world_expect(&lab->world, "c");
        journal_world_close(&lab->world);
    }
}

static void unsynced_groups_that_a_crash_reordered_are_cut(void **state) {
    struct lab *lab = *state;
    uint64_t position;
    uint8_t zeroes[JOURNAL_BLOCK] = {0};
    journal_world_commit(&lab->world, "a");
    journal_world_append(&lab->world, "lost", &position);
    journal_world_append(&lab->world, "kept", &position);
    journal_world_close(&lab->world);
    poke(lab, first_segment, FIRST_GROUP + JOURNAL_BLOCK, zeroes, sizeof zeroes);
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
    journal_world_expect(&lab->world, "a");
    /* New groups of the same size do not bring back what stood behind. */
    journal_world_commit(&lab->world, "new");
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
    journal_world_expect(&lab->world, "a new");
}

/* A group in the torn tail that swears that what is missing before it was synced. */
static void put_witness(struct lab *lab, uint32_t salt) {
    uint8_t block[JOURNAL_BLOCK] = {0};
    struct journal_group group = {.sequence = 9,
                                  .segment = 1,
                                  .durable_end =
                                      JOURNAL_WORLD_SEGMENT + FIRST_GROUP + 2 * JOURNAL_BLOCK,
                                  .salt = salt};
    journal_format_put_group(block, &group);
    poke(lab, first_segment, FIRST_GROUP + 2 * JOURNAL_BLOCK, block, sizeof block);
}

static void a_body_cannot_pass_for_a_group(void **state) {
    struct lab *lab = *state;
    uint8_t block[JOURNAL_BLOCK];
    struct journal_header header;
    journal_world_commit(&lab->world, "a");
    journal_world_close(&lab->world);
    peek(lab, first_segment, 0, block, sizeof block);
    assert_true(journal_format_get_header(block, &header));
    put_witness(lab, header.salt);
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_CORRUPT);
    put_witness(lab, header.salt + 1);
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
    journal_world_expect(&lab->world, "a");
}

static void every_flipped_bit_of_a_synced_group_is_found(void **state) {
    struct lab *lab = *state;
    journal_world_commit(&lab->world, "a");
    journal_world_commit(&lab->world, "b");
    journal_world_commit(&lab->world, "c");
    journal_world_close(&lab->world);
    size_t bits = 8 * (JOURNAL_GROUP_BYTES + JOURNAL_RECORD_BYTES + 1);
    uint64_t group = FIRST_GROUP + JOURNAL_BLOCK;
    for (size_t i = 0; i < bits; i++) {
        assert_true(sim_disk_flip(lab->sim, first_segment, group + i / 8, i % 8));
        assert_int_equal(journal_world_open(&lab->world, 0), STATUS_CORRUPT);
        assert_non_null(strstr(lab->world.err.text, "0000000000000001.seg, offset 8192"));
        assert_int_equal(verify(lab), STATUS_CORRUPT);
        assert_non_null(strstr(buf_cstr(&lab->report), "0000000000000001.seg, offset 8192"));
        journal_world_expect(&lab->world, "a c");
        assert_true(sim_disk_flip(lab->sim, first_segment, group + i / 8, i % 8));
    }
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_OK);
    journal_world_expect(&lab->world, "a b c");
}

static void damage_in_an_earlier_segment_is_found(void **state) {
    struct lab *lab = *state;
    for (int i = 0; i < 7; i++)
        journal_world_commit(&lab->world, "x");
    uint64_t second = journal_world_commit(&lab->world, "y");
    uint64_t last_group = FIRST_GROUP + 6 * JOURNAL_BLOCK;
    assert_true(sim_disk_flip(lab->sim, first_segment, last_group + JOURNAL_GROUP_BYTES, 0));
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_CORRUPT);
    assert_non_null(strstr(lab->world.err.text, "0000000000000001.seg, offset 28672"));
    assert_int_equal(verify(lab), STATUS_CORRUPT);
    assert_int_equal(lab->world.seen_count, 7);
    /* Who has folded that segment does not need it. */
    assert_int_equal(journal_world_open(&lab->world, second), STATUS_OK);
    journal_world_expect(&lab->world, "y");
}

static void a_damaged_header_is_found_and_its_records_salvaged(void **state) {
    struct lab *lab = *state;
    for (int i = 0; i < 7; i++)
        journal_world_commit(&lab->world, "x");
    journal_world_commit(&lab->world, "y");
    for (size_t i = 0; i < 8 * (size_t)JOURNAL_HEADER_BYTES; i++) {
        assert_true(sim_disk_flip(lab->sim, second_segment, i / 8, i % 8));
        assert_int_equal(journal_world_open(&lab->world, 0), STATUS_CORRUPT);
        assert_non_null(strstr(lab->world.err.text, "0000000000000002.seg, offset 0"));
        assert_int_equal(verify(lab), STATUS_CORRUPT);
        assert_int_equal(lab->world.seen_count, 8);
        assert_true(sim_disk_flip(lab->sim, second_segment, i / 8, i % 8));
    }
}

/* Where the header is damaged the salt is not known, and a body may say what it likes. */
static void records_end_with_their_group_whatever_it_counts(void **state) {
    struct lab *lab = *state;
    uint8_t block[JOURNAL_BLOCK] = {0};
    struct journal_group group = {.sequence = 2, .segment = 1, .count = UINT32_MAX};
    group.payload = JOURNAL_RECORD_BYTES;
    journal_world_commit(&lab->world, "a");
    journal_world_close(&lab->world);
    for (uint32_t len = 0; len <= 1; len++) { /* nothing left for a second, or for the first */
        journal_format_put32(block + JOURNAL_GROUP_BYTES, len);
        journal_format_put_group(block, &group);
        poke(lab, first_segment, FIRST_GROUP + JOURNAL_BLOCK, block, sizeof block);
        assert_true(sim_disk_flip(lab->sim, first_segment, 0, 0));
        assert_int_equal(verify(lab), STATUS_CORRUPT);
        assert_int_equal(lab->world.seen_count, len == 0 ? 2 : 1);
        assert_true(sim_disk_flip(lab->sim, first_segment, 0, 0));
    }
}

static void a_missing_segment_is_found_by_who_needs_it(void **state) {
    struct lab *lab = *state;
    uint64_t first = journal_world_commit(&lab->world, "x");
    for (int i = 0; i < 7; i++)
        journal_world_commit(&lab->world, "x");
    journal_world_close(&lab->world);
    assert_int_equal(lab->disk->vtable->remove(lab->disk, first_segment), 0);
    assert_int_equal(journal_world_open(&lab->world, first), STATUS_CORRUPT);
}

static void a_segment_of_a_later_format_is_refused_by_name(void **state) {
    struct lab *lab = *state;
    journal_world_commit(&lab->world, "x");
    uint8_t block[JOURNAL_BLOCK];
    struct journal_header header;
    peek(lab, first_segment, 0, block, sizeof block);
    assert_true(journal_format_get_header(block, &header));
    header.version = JOURNAL_FORMAT_VERSION + 1;
    journal_format_put_header(block, &header);
    poke(lab, first_segment, 0, block, sizeof block);
    assert_int_equal(journal_world_open(&lab->world, 0), STATUS_CONFLICT);
    assert_non_null(strstr(lab->world.err.text, "has format 2"));
}

static void a_damaged_record_is_not_read(void **state) {
    struct lab *lab = *state;
    uint64_t position = journal_world_commit(&lab->world, "record");
    uint64_t offset = position - JOURNAL_WORLD_SEGMENT;
    struct buf out;
    buf_init_heap(&out, 100);
    for (size_t i = 0; i < 8 * (JOURNAL_RECORD_BYTES + strlen("record")); i++) {
        assert_true(sim_disk_flip(lab->sim, first_segment, offset + i / 8, i % 8));
        assert_int_equal(journal_world_read(lab->world.journal, position, &out, &lab->world.err),
                         STATUS_CORRUPT);
        assert_int_equal(out.len, 0);
        assert_true(sim_disk_flip(lab->sim, first_segment, offset + i / 8, i % 8));
    }
    assert_int_equal(journal_world_read(lab->world.journal, position + 1, &out, &lab->world.err),
                     STATUS_CORRUPT);
    buf_free(&out);
}

#define IN_LAB(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_LAB(a_group_torn_at_any_byte_is_cut),
        IN_LAB(a_group_torn_over_an_earlier_one_is_cut),
        IN_LAB(unsynced_groups_that_a_crash_reordered_are_cut),
        IN_LAB(a_body_cannot_pass_for_a_group),
        IN_LAB(every_flipped_bit_of_a_synced_group_is_found),
        IN_LAB(damage_in_an_earlier_segment_is_found),
        IN_LAB(a_damaged_header_is_found_and_its_records_salvaged),
        IN_LAB(records_end_with_their_group_whatever_it_counts),
        IN_LAB(a_missing_segment_is_found_by_who_needs_it),
        IN_LAB(a_segment_of_a_later_format_is_refused_by_name),
        IN_LAB(a_damaged_record_is_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
