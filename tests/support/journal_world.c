#include "test.h"

#include "journal_world.h"

void journal_world_init(struct journal_world *world, struct disk *disk, const char *dir) {
    *world = (struct journal_world){
        .options = {.disk = disk, .dir = dir, .segment_bytes = JOURNAL_WORLD_SEGMENT}};
}

void journal_world_forget(struct journal_world *world) {
    while (world->seen_count)
        free(world->seen[--world->seen_count]);
}

void journal_world_free(struct journal_world *world) {
    journal_world_close(world);
    journal_world_forget(world);
}

void journal_world_see(void *arg, uint64_t position, struct bytes record) {
    struct journal_world *world = arg;
    assert_true(world->seen_count < JOURNAL_WORLD_MAX);
    world->seen_at[world->seen_count] = position;
    world->seen[world->seen_count++] = bytes_dup(record);
}

static enum status replay(void *arg, uint64_t position, struct bytes record) {
    journal_world_see(arg, position, record);
    return STATUS_OK;
}

enum status journal_world_open(struct journal_world *world, uint64_t from) {
    journal_world_close(world);
    journal_world_forget(world);
    return journal_open(&world->options, from, replay, world, &world->journal, &world->err);
}

void journal_world_close(struct journal_world *world) {
    journal_close(world->journal);
    world->journal = NULL;
}

enum status journal_world_append(struct journal_world *world, const char *text,
                                 uint64_t *position) {
    struct bytes record = bytes_of(text);
    return journal_append(world->journal, &record, 1, position, &world->err);
}

uint64_t journal_world_commit(struct journal_world *world, const char *text) {
    uint64_t position;
    assert_int_equal(journal_world_append(world, text, &position), STATUS_OK);
    assert_int_equal(journal_sync(world->journal, &world->err), STATUS_OK);
    return position;
}

void journal_world_expect(const struct journal_world *world, const char *texts) {
    char joined[4096] = "";
    for (size_t i = 0; i < world->seen_count; i++) {
        assert_true(strlen(joined) + strlen(world->seen[i]) + 2 < sizeof joined);
        strcat(strcat(joined, i ? " " : ""), world->seen[i]);
    }
    assert_string_equal(joined, texts);
}

enum status journal_world_read(struct journal_files *journal, uint64_t position, struct buf *out,
                               struct err *err) {
    struct journal_window window = {0};
    struct bytes bytes;
    enum status status = journal_read(journal, position, &window, &bytes, err);
    if (status == STATUS_OK)
        buf_bytes(out, bytes);
    journal_window_free(&window);
    return status;
}
