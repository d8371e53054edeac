/* journal_embedded: port/journal.h over the segments of journal.h. Nobody else has the files, so no
 * group is ever fenced. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_EMBEDDED_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_EMBEDDED_H

#include "port/journal.h"
#include "store/embedded/journal/journal_file.h"

/* The files are opened by replay. The options' texts must outlive it. */
struct journal *journal_embedded_new(const struct journal_options *options);

#endif
