/* checkup: what is wrong with a store, each half alone: the file by SQLite's own check, by the
 * bytes that its rows refer to and by a recount; the journal by its checksums. Findings go to the
 * report; `wrong`, `malformed`, `gone` and `holes` of the doctor say of what kind they are. */
#ifndef STORE_EMBEDDED_DOCTOR_VERIFY_H
#define STORE_EMBEDDED_DOCTOR_VERIFY_H

#include "store/embedded/doctor/doctor.h"

/* CORRUPT: its pages are malformed. */
enum status verify_file(struct doctor *doctor, struct err *err);
enum status verify_journal(struct doctor *doctor, struct err *err);

#endif
