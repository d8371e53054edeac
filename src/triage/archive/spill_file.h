/* spill_file: the spill port on files: one zstd frame per letter, appended and fsynced. */
#ifndef TRIAGE_ARCHIVE_SPILL_FILE_H
#define TRIAGE_ARCHIVE_SPILL_FILE_H

#include "port/spill.h"

/* `base_dir`: base of relative `file:` archives. */
struct spill *spill_file_new(struct bytes base_dir);

#endif
