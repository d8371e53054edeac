/* journal_embedded: port/journal.h on the segment files of journal_file.h. No other node uses the
 * files, so no group is ever fenced. */
#ifndef STORE_EMBEDDED_JOURNAL_JOURNAL_EMBEDDED_H
#define STORE_EMBEDDED_JOURNAL_JOURNAL_EMBEDDED_H

#include "port/journal.h"
#include "store/embedded/journal/journal_file.h"

/* `replay` opens the files. The texts in the options must outlive the journal. */
struct journal *journal_embedded_new(const struct journal_options *options);

#endif
