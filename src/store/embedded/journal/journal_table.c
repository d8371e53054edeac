#include "store/embedded/journal/journal_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

struct segment_listing {
    uint64_t *numbers;
    size_t count;
    size_t cap;
    bool has_spare;
};

static void note_name(void *arg, const char *name) {
    struct segment_listing *listing = arg;
    uint64_t number;
    if (strcmp(name, journal_segment_spare) == 0)
        listing->has_spare = true;
    if (!journal_segment_number(name, &number))
        return;
    if (listing->count == listing->cap) {
        listing->cap = listing->cap ? listing->cap * 2 : 16;
        listing->numbers = memory_grow(listing->numbers, listing->cap * sizeof *listing->numbers);
    }
    listing->numbers[listing->count++] = number;
}

static int by_number(const void *a, const void *b) {
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static enum status open_segment(struct journal_table *table, const struct journal_options *options,
                                uint64_t number, struct err *err) {
    char name[JOURNAL_NAME_MAX], path[JOURNAL_PATH_MAX];
    journal_segment_name(number, name);
    if (!journal_segment_path(options->dir, name, path))
        return err_set(err, STATUS_INVALID, "the path %s is too long", options->dir);
    struct journal_segment *segment = memory_new(sizeof *segment);
    segment->disk = options->disk;
    segment->number = number;
    segment->bytes = options->segment_bytes;
    int error = options->disk->vtable->open(options->disk, path, 0, &segment->file);
    if (error) {
        journal_segment_free(segment);
        return journal_segment_trouble(error, "opening", number, err);
    }
    segment->end = journal_segment_start(segment);
    journal_table_add(table, segment);
    return journal_segment_load(segment, err);
}

enum status journal_table_load(struct journal_table *table, const struct journal_options *options,
                               struct err *err) {
    struct segment_listing listing = {0};
    *table = (struct journal_table){0};
    int error = options->disk->vtable->list(options->disk, options->dir, note_name, &listing);
    enum status status = STATUS_OK;
    if (error && error != ENOENT)
        status = err_set(err, STATUS_IO, "listing %s: %s", options->dir, strerror(error));
    if (listing.count)
        qsort(listing.numbers, listing.count, sizeof *listing.numbers, by_number);
    for (size_t i = 0; i < listing.count && !status; i++)
        status = open_segment(table, options, listing.numbers[i], err);
    table->has_spare = listing.has_spare;
    free(listing.numbers);
    if (status)
        journal_table_free(table);
    return status;
}

void journal_table_free(struct journal_table *table) {
    for (size_t i = 0; i < table->count; i++)
        journal_segment_free(table->segments[i]);
    free(table->segments);
    *table = (struct journal_table){0};
}

void journal_table_add(struct journal_table *table, struct journal_segment *segment) {
    if (table->count == table->cap) {
        table->cap = table->cap ? table->cap * 2 : 16;
        table->segments =
            memory_grow(table->segments, table->cap * sizeof(struct journal_segment *));
    }
    table->segments[table->count++] = segment;
}

void journal_table_remove(struct journal_table *table, struct journal_segment *segment) {
    size_t i = 0;
    while (table->segments[i] != segment)
        i++;
    table->count--;
    memmove(&table->segments[i], &table->segments[i + 1],
            (table->count - i) * sizeof(struct journal_segment *));
}

struct journal_segment *journal_table_find(const struct journal_table *table, uint64_t number) {
    for (size_t i = 0; i < table->count; i++)
        if (table->segments[i]->number == number)
            return table->segments[i];
    return NULL;
}

static enum status unsound(const struct journal_segment *segment, struct err *err) {
    char name[JOURNAL_NAME_MAX];
    journal_segment_name(segment->number, name);
    return err_set(err, STATUS_CORRUPT, "journal segment %s, offset 0: %s", name,
                   segment->there < segment->bytes ? "the file was cut short"
                                                   : "its header is damaged");
}

enum status journal_table_link(struct journal_table *table, uint64_t from, struct err *err) {
    if (table->count == 0)
        return STATUS_OK;
    struct journal_segment *segment = table->segments[table->count - 1];
    if (!segment->sound)
        return unsound(segment, err);
    segment->linked = true;
    for (;;) {
        uint64_t previous_end = segment->header.previous_end;
        segment = journal_table_find(table, segment->header.previous);
        if (!segment)
            return STATUS_OK;
        /* A segment that is not needed may be in the middle of being reused. */
        if (!segment->sound)
            return from && from >= previous_end ? STATUS_OK : unsound(segment, err);
        segment->linked = true;
        segment->end = previous_end;
    }
}
