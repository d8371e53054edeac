/* adopt_pages: all that is remembered of an entry, a page at a time. */
#ifndef TRIAGE_ADOPT_PAGES_H
#define TRIAGE_ADOPT_PAGES_H

#include "triage/adopt_state.h"

enum { ADOPT_PAGE = 128 };

struct adopt_pages {
    struct adopt_place *place;
    struct store_kept page[ADOPT_PAGE];
    size_t count;
    struct arena arena; /* of the page's texts, and for whoever looks at it */
    char after[ADOPT_NAME_MAX];
};

void adopt_pages_begin(struct adopt_pages *pages, struct adopt_place *place);
/* The next page; the one before is gone. A count of 0: there are no more. */
enum status adopt_pages_next(struct adopt_pages *pages, struct err *err);
void adopt_pages_end(struct adopt_pages *pages);

#endif
