#include "triage/adopt_pages.h"

#include <stdio.h>

enum { PAGES_ARENA_CHUNK = 16 * 1024 };

void adopt_pages_begin(struct adopt_pages *pages, struct adopt_place *place) {
    pages->place = place;
    pages->count = ADOPT_PAGE;
    pages->after[0] = '\0';
    arena_init_heap(&pages->arena, PAGES_ARENA_CHUNK);
}

enum status adopt_pages_next(struct adopt_pages *pages, struct err *err) {
    struct store *store = pages->place->adopt->options.triage->store;
    char prefix[ADOPT_NAME_MAX];
    bool last = pages->count < ADOPT_PAGE;
    pages->count = 0;
    arena_free(&pages->arena);
    arena_init_heap(&pages->arena, PAGES_ARENA_CHUNK);
    if (last)
        return STATUS_OK;
    snprintf(prefix, sizeof prefix, "%.*s/", BYTES_ARG(pages->place->entry->name));
    enum status status =
        store->vtable->kept_list(store, SPACE_ADOPTED, bytes_of(prefix), bytes_of(pages->after),
                                 false, ADOPT_PAGE, &pages->arena, pages->page, &pages->count, err);
    if (status == STATUS_OK && pages->count > 0)
        snprintf(pages->after, sizeof pages->after, "%.*s",
                 BYTES_ARG(pages->page[pages->count - 1].name));
    return status;
}

void adopt_pages_end(struct adopt_pages *pages) {
    arena_free(&pages->arena);
}
