/* The files of this machine: what was written is what is read, whichever way it went. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tempdir.h"
#include "base/memory.h"
#include "store/disk_posix.h"
#include "test.h"

enum { PATH_SIZE = 256, PAGES = 64, BYTES_MAX = PAGES * MEMORY_PAGE };

static struct disk *const disk = &disk_posix;

static struct world {
    struct disk_file *file;
    char dir[PATH_SIZE], path[2 * PATH_SIZE];
    char *pages;          /* whole ones, as a disk likes them */
    char told[BYTES_MAX]; /* what the file should hold */
    char read[BYTES_MAX];
} world;

static void open_world(const char *where) {
    world = (struct world){.pages = memory_pages(BYTES_MAX)};
    assert_int_equal(tempdir_make(where, "impound-disk", world.dir, sizeof world.dir, NULL),
                     STATUS_OK);
    snprintf(world.path, sizeof world.path, "%s/file", world.dir);
    assert_int_equal(disk->vtable->open(disk, world.path, 1, &world.file), 0);
}

static void close_world(void) {
    disk->vtable->close(disk, world.file);
    tempdir_remove(world.dir);
    free(world.pages);
}

/* From `skew` bytes into the pages, so that it is whole pages only when that is 0. */
static void put(size_t at, size_t len, size_t skew, char byte) {
    memset(world.pages + skew, byte, len);
    memset(world.told + at, byte, len);
    assert_int_equal(disk->vtable->write(disk, world.file, at, world.pages + skew, len), 0);
}

static void check(void) {
    assert_int_equal(disk->vtable->read(disk, world.file, 0, world.read, BYTES_MAX), 0);
    assert_memory_equal(world.read, world.told, BYTES_MAX);
}

/* /dev/shm may refuse what goes past the page cache: then it goes through it. */
static const char *const places[] = {"/tmp", "/dev/shm"};

static void pages_and_odd_bytes_are_read_as_they_were_written(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        open_world(places[i]);
        put(0, BYTES_MAX, 0, '.'); /* behind the end of the file */
        put(0, 2 * MEMORY_PAGE, 0, 'a');
        put(MEMORY_PAGE + 7, 100, 0, 'b');
        put(4 * MEMORY_PAGE, MEMORY_PAGE, 8, 'c');
        put(MEMORY_PAGE, 4 * MEMORY_PAGE, 0, 'd');
        assert_int_equal(disk->vtable->sync(disk, world.file), 0);
        check();
        close_world();
    }
}

static void what_the_page_cache_holds_is_not_what_is_read_after_pages_went_past_it(void **state) {
    (void)state;
    open_world("/tmp");
    for (char byte = 'a'; byte < 'k'; byte++) {
        put(0, BYTES_MAX, 0, byte);
        check();
        put(3, 5, 1, '-'); /* a page of the cache is dirty when the next ones go past it */
        check();
    }
    close_world();
}

static void a_renamed_file_is_the_same_file(void **state) {
    (void)state;
    char renamed[2 * PATH_SIZE];
    open_world("/tmp");
    put(0, BYTES_MAX, 0, '.');
    snprintf(renamed, sizeof renamed, "%s/renamed", world.dir);
    assert_int_equal(disk->vtable->rename(disk, world.path, renamed), 0);
    put(MEMORY_PAGE, 3 * MEMORY_PAGE, 0, 'a');
    check();
    close_world();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_and_odd_bytes_are_read_as_they_were_written),
        cmocka_unit_test(what_the_page_cache_holds_is_not_what_is_read_after_pages_went_past_it),
        cmocka_unit_test(a_renamed_file_is_the_same_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
