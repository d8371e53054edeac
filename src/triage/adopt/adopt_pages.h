/* adopt_pages: all that is remembered of an entry, a page at a time. */
#ifndef TRIAGE_ADOPT_PAGES_H
#define TRIAGE_ADOPT_PAGES_H

#include "triage/adopt/adopt_state.h"

enum { ADOPT_PAGE = 128 };

struct adopt_page {
    struct letters_note kept[ADOPT_PAGE];
    size_t count;
    struct arena arena; /* of its texts, and for whoever looks at it */
};

/* Gives each page to `look`, which may say that it has seen enough. What it answers ends the walk,
 * too, unless it is OK. */
enum status adopt_pages_walk(struct adopt_place *place,
                             enum status (*look)(struct adopt_place *place, struct adopt_page *page,
                                                 bool *enough, struct err *err),
                             bool *enough, struct err *err);

#endif
