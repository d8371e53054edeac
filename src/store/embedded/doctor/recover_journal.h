/* salvage: brings every whole record that the file has not seen into the file, then sets the
 * journal aside. Each step can be cut short and made again: the file's position moves past the
 * salvaged records in the transaction that holds them, and goes back to 0 only when the journal is
 * empty. */
#ifndef STORE_EMBEDDED_DOCTOR_RECOVER_JOURNAL_H
#define STORE_EMBEDDED_DOCTOR_RECOVER_JOURNAL_H

#include "store/embedded/doctor/doctor.h"

enum status recover_journal_all(struct doctor *doctor, struct err *err);
/* A malformed SQLite file gets another name. */
enum status recover_journal_set_file_aside(struct doctor *doctor, struct err *err);

#endif
