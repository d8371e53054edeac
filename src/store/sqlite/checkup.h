/* checkup: what is wrong with a store, each half alone: the file by SQLite's own check, by the
 * bytes that its rows refer to and by a recount; the journal by its checksums. Findings go to the
 * report; `wrong`, `malformed`, `gone` and `holes` of the doctor say of what kind they are. */
#ifndef STORE_CHECKUP_H
#define STORE_CHECKUP_H

#include "store/sqlite/doctor.h"

/* CORRUPT: its pages are malformed. */
enum status checkup_file(struct doctor *doctor, struct err *err);
enum status checkup_journal(struct doctor *doctor, struct err *err);

#endif
