#include "store/tables/notes.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void notes_init(struct notes *keeps) {
    *keeps = (struct notes){0};
    list_init(&keeps->changes);
}

static void keep_free(struct keep *keep) {
    blob_unkeep(&keep->value);
    free((char *)keep->name.ptr);
    free(keep);
}

static void free_node(struct map_node *node) {
    keep_free(CONTAINER_OF(node, struct keep, node));
}

void notes_free(struct notes *keeps) {
    map_drain(&keeps->map, free_node);
}

/* ---- records ---- */

struct blob *notes_encode(uint32_t queue, const struct store_keep *keep) {
    assert(keep->name.len > 0 && keep->name.len <= STORE_NAME_MAX);
    assert(keep->space[0] && strlen(keep->space) < STORE_SPACE_SIZE && !strchr(keep->space, ' '));
    char memory[STORE_NAME_MAX + STORE_SPACE_SIZE + 1];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_str(&text, keep->space);
    buf_char(&text, ' ');
    buf_bytes(&text, keep->name);
    return journal_record_encode(&(struct journal_record){.kind = JOURNAL_RECORD_KEEP,
                                                          .queue = queue,
                                                          .seq = (uint64_t)keep->expires.ms,
                                                          .text = buf_view(&text),
                                                          .body = keep->value});
}

bool notes_decode(const struct journal_record *record, struct notes_decoded *out) {
    size_t space_len = bytes_find(record->text, BYTES(" "));
    *out =
        (struct notes_decoded){.keep = {
                                   .name = bytes_cut(record->text, space_len + 1, record->text.len),
                                   .value = record->body,
                                   .expires = {(int64_t)record->seq},
                               }};
    if (space_len == 0 || space_len >= sizeof out->space)
        return false;
    memcpy(out->space, record->text.ptr, space_len);
    if (strlen(out->space) != space_len)
        return false;
    out->keep.space = out->space;
    return out->keep.name.len > 0 && out->keep.name.len <= STORE_NAME_MAX;
}

/* ---- changing ---- */

static uint64_t name_hash(const char *space, struct bytes name) {
    return bytes_hash(name) + bytes_hash(bytes_of(space));
}

static bool is_named(const struct keep *keep, const char *space, struct bytes name) {
    return strcmp(keep->space, space) == 0 && bytes_eq(keep->name, name);
}

static struct keep *get(struct notes *keeps, uint32_t queue, const struct store_keep *wanted) {
    uint64_t hash = name_hash(wanted->space, wanted->name);
    for (struct map_node *node = map_first(&keeps->map, hash); node; node = map_next(node)) {
        struct keep *keep = CONTAINER_OF(node, struct keep, node);
        if (keep->queue == queue && is_named(keep, wanted->space, wanted->name))
            return keep;
    }
    struct keep *keep = memory_new(sizeof *keep);
    keep->queue = queue;
    snprintf(keep->space, sizeof keep->space, "%s", wanted->space);
    keep->name = (struct bytes){bytes_dup(wanted->name), wanted->name.len};
    list_init(&keep->change);
    map_insert(&keeps->map, &keep->node, hash);
    return keep;
}

static void drop(struct notes *keeps, struct keep *keep) {
    keeps->bytes -= keep->value.bytes.len;
    if (keep->changed)
        keeps->change_count--;
    list_remove(&keep->change);
    map_remove(&keeps->map, &keep->node);
    keep_free(keep);
}

static void note_change(struct notes *keeps, struct keep *keep) {
    keeps->changed_bytes += keep->value.bytes.len;
    if (keep->changed)
        return;
    keep->changed = true;
    keeps->change_count++;
    list_push_back(&keeps->changes, &keep->change);
}

void notes_set(struct notes *keeps, uint32_t queue, const struct store_keep *wanted,
               struct blob *blob) {
    struct keep *keep = get(keeps, queue, wanted);
    keeps->bytes -= keep->value.bytes.len;
    blob_unkeep(&keep->value);
    keep->expires = wanted->expires;
    if (wanted->value.ptr)
        blob_keep(&keep->value, blob, wanted->value);
    keeps->bytes += keep->value.bytes.len;
    if (keeps->file)
        note_change(keeps, keep);
    else if (!keep->value.blob)
        drop(keeps, keep);
}

void notes_release(struct notes *keeps, struct keep *keep) {
    if (!keep->changed && keep->folding == 0)
        drop(keeps, keep);
}

/* ---- one name ---- */

static bool is_visible(const struct keep *keep, struct wall now) {
    bool expired = keep->expires.ms != WALL_NEVER.ms && keep->expires.ms <= now.ms;
    return keep->value.blob && !expired;
}

void notes_find(const struct notes *keeps, uint32_t queue, const char *space, struct bytes name,
                struct wall now, struct arena *arena, struct notes_found *out) {
    *out = (struct notes_found){0};
    for (struct map_node *node = map_first(&keeps->map, name_hash(space, name)); node;
         node = map_next(node)) {
        const struct keep *keep = CONTAINER_OF(node, struct keep, node);
        if (!is_named(keep, space, name) || (queue != 0 && keep->queue != queue) ||
            out->queue_count == NOTES_QUEUES_MAX)
            continue;
        out->queues[out->queue_count++] = keep->queue;
        if (!is_visible(keep, now))
            continue;
        out->count++;
        out->value = arena_dup(arena, keep->value.bytes);
    }
}

void notes_add_row(struct notes_found *found, uint32_t queue, struct bytes value,
                   struct arena *arena) {
    for (size_t i = 0; i < found->queue_count; i++) {
        if (found->queues[i] == queue)
            return;
    }
    found->count++;
    found->value = arena_dup(arena, value);
}

enum status notes_answer(const struct notes_found *found, struct bytes name, struct bytes *value,
                         struct err *err) {
    if (found->count == 0)
        return err_set(err, STATUS_NOT_FOUND, "nothing is kept under \"%.*s\"", BYTES_ARG(name));
    if (found->count > 1)
        return err_set(err, STATUS_CONFLICT, "several queues keep something under \"%.*s\"",
                       BYTES_ARG(name));
    *value = found->value;
    return STATUS_OK;
}

/* ---- many names ---- */

static struct bytes larger(struct bytes a, struct bytes b) {
    return bytes_cmp(a, b) > 0 ? a : b;
}

/* The smallest text that is greater than all texts with the prefix; ptr NULL: there is none. */
static struct bytes behind(struct bytes prefix, struct arena *arena) {
    while (prefix.len > 0 && (unsigned char)prefix.ptr[prefix.len - 1] == 0xff)
        prefix.len--;
    if (prefix.len == 0)
        return BYTES_NONE;
    char *text = arena_cstr(arena, prefix);
    text[prefix.len - 1]++;
    return (struct bytes){text, prefix.len};
}

struct notes_range notes_range(const char *space, struct bytes prefix, struct bytes after,
                               bool descending, struct arena *arena) {
    struct notes_range range = {.space = space,
                                .from = prefix.ptr ? prefix : BYTES(""),
                                .until = behind(prefix, arena),
                                .descending = descending};
    if (after.len == 0)
        return range;
    if (!descending) /* the text and a NUL: the next text in order */
        range.from = larger(range.from, (struct bytes){arena_cstr(arena, after), after.len + 1});
    else if (!range.until.ptr || bytes_cmp(after, range.until) < 0)
        range.until = after;
    return range;
}

int notes_compare(const struct notes_range *range, const struct notes_row *a,
                  const struct notes_row *b) {
    int order = bytes_cmp(a->name, b->name);
    if (order == 0)
        order = a->queue < b->queue ? -1 : a->queue > b->queue;
    return range->descending ? -order : order;
}

struct note_listing {
    const struct notes_range *range;
    const struct keep **found;
    size_t count;
};

static void add_listed(struct map_node *node, void *arg) {
    struct note_listing *listing = arg;
    const struct notes_range *range = listing->range;
    const struct keep *keep = CONTAINER_OF(node, struct keep, node);
    if (strcmp(keep->space, range->space) != 0 || bytes_cmp(keep->name, range->from) < 0 ||
        (range->until.ptr && bytes_cmp(keep->name, range->until) >= 0))
        return;
    listing->found[listing->count++] = keep;
}

static int ascending(const void *a, const void *b) {
    const struct keep *left = *(const struct keep *const *)a,
                      *right = *(const struct keep *const *)b;
    int order = bytes_cmp(left->name, right->name);
    return order != 0 ? order : left->queue < right->queue ? -1 : left->queue > right->queue;
}

static struct notes_row row_of(const struct keep *keep, struct wall now, struct arena *arena) {
    bool visible = is_visible(keep, now);
    return (struct notes_row){
        .name = arena_dup(arena, keep->name),
        .value = visible ? arena_dup(arena, keep->value.bytes) : BYTES_NONE,
        .queue = keep->queue,
        .hidden = !visible,
    };
}

size_t notes_list(const struct notes *keeps, const struct notes_range *range, size_t limit,
                  struct arena *arena, struct notes_row **out) {
    struct note_listing listing = {.range = range};
    listing.found = memory_array(keeps->map.count + 1, sizeof *listing.found);
    map_each(&keeps->map, add_listed, &listing);
    qsort(listing.found, listing.count, sizeof *listing.found, ascending);
    *out = arena_alloc(arena, (listing.count + 1) * sizeof **out);
    size_t count = 0, visible = 0;
    for (; count < listing.count && visible < limit; count++) {
        size_t place = range->descending ? listing.count - 1 - count : count;
        (*out)[count] = row_of(listing.found[place], range->now, arena);
        visible += !(*out)[count].hidden;
    }
    free(listing.found);
    return count;
}
