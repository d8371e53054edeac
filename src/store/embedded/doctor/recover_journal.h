/* recover_journal: writes every intact record of the journal that was not folded to the file, then
 * sets the journal aside. Each step can be interrupted and repeated: the file's position moves past
 * the recovered records in the transaction that contains them, and is reset to 0 only when the
 * journal is empty. */
#ifndef STORE_EMBEDDED_DOCTOR_RECOVER_JOURNAL_H
#define STORE_EMBEDDED_DOCTOR_RECOVER_JOURNAL_H

#include "store/embedded/doctor/doctor.h"

enum status recover_journal_all(struct doctor *doctor, struct err *err);
/* Renames a malformed SQLite file. */
enum status recover_journal_set_file_aside(struct doctor *doctor, struct err *err);

#endif
