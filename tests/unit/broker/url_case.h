/* url_case: a URL, and what is said of it; for the tests of every adapter's own. */
#ifndef URL_CASE_H
#define URL_CASE_H

#include "test.h"

#include "base/arena.h"
#include "base/status.h"

static struct arena arena; /* the texts of all that is parsed; a group's set-up and tear-down: */

static int set_up(void **state) {
    (void)state;
    arena_init_heap(&arena, 512);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    arena_free(&arena);
    return 0;
}

static inline void assert_taken(enum status status, const char *url, const struct err *err) {
    if (status != STATUS_OK)
        fail_msg("%s: %s", url, err->text);
}

static inline void assert_said(enum status status, const char *url, const struct err *err,
                               const char *words) {
    assert_int_equal(status, STATUS_INVALID);
    if (!strstr(err->text, words))
        fail_msg("%s: \"%s\" does not say \"%s\"", url, err->text, words);
}

#endif
