/* adopt_pages: pages through an entry's records in the store (SPACE_ADOPTED), in name order. */
#include "triage/adopt/adopt_pages.h"

#include <stdio.h>

enum { PAGES_ARENA_CHUNK = 16 * 1024 };

/* Reads the page behind the name `after`, and sets `after` to its last name. */
static enum status read_page(struct adopt_place *place, char after[ADOPT_NAME_MAX],
                             struct adopt_page *page, struct err *err) {
    struct store *store = place->adopt->options.triage->store;
    char prefix[ADOPT_NAME_MAX];
    snprintf(prefix, sizeof prefix, "%.*s/", BYTES_ARG(place->entry->name));
    enum status status =
        letters_notes(store->letters, SPACE_ADOPTED, bytes_of(prefix), bytes_of(after), false,
                      ADOPT_PAGE, &page->arena, page->kept, &page->count, err);
    if (status == STATUS_OK && page->count > 0)
        snprintf(after, ADOPT_NAME_MAX, "%.*s", BYTES_ARG(page->kept[page->count - 1].name));
    return status;
}

enum status adopt_pages_walk(struct adopt_place *place,
                             enum status (*look)(struct adopt_place *place, struct adopt_page *page,
                                                 bool *enough, struct err *err),
                             bool *enough, struct err *err) {
    struct adopt_page page;
    char after[ADOPT_NAME_MAX] = "";
    enum status status;
    *enough = false;
    do {
        page.count = 0;
        arena_init_heap(&page.arena, PAGES_ARENA_CHUNK);
        status = read_page(place, after, &page, err);
        if (status == STATUS_OK)
            status = look(place, &page, enough, err);
        arena_free(&page.arena);
    } while (status == STATUS_OK && page.count == ADOPT_PAGE && !*enough);
    return status;
}
