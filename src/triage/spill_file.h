/* spill_file: the spill port on files: one zstd frame a letter, appended and fsynced. */
#ifndef TRIAGE_SPILL_FILE_H
#define TRIAGE_SPILL_FILE_H

#include "port/spill.h"

/* `base_dir`: what relative `file:` archives are relative to. */
struct spill *spill_file_new(struct bytes base_dir);

#endif
