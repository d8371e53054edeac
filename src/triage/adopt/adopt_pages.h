/* adopt_pages: walks the records of an entry's seen messages, a page at a time. */
#ifndef TRIAGE_ADOPT_PAGES_H
#define TRIAGE_ADOPT_PAGES_H

#include "triage/adopt/adopt_state.h"

enum { ADOPT_PAGE = 128 };

struct adopt_page {
    struct letters_note kept[ADOPT_PAGE];
    size_t count;
    struct arena arena; /* of its texts; `look` may allocate in it, too */
};

/* Calls `look` with each page until it sets *enough, returns an error, or there are no more. */
enum status adopt_pages_walk(struct adopt_place *place,
                             enum status (*look)(struct adopt_place *place, struct adopt_page *page,
                                                 bool *enough, struct err *err),
                             bool *enough, struct err *err);

#endif
