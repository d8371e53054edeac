/* verify: checks the two halves of a store, each alone: the SQLite file with SQLite's own check, by
 * reading the bytes that its rows refer to and by a recount; the journal by its checksums. Findings
 * are written to the report; `wrong`, `malformed`, `gone` and `holes` of struct doctor classify
 * them. */
#ifndef STORE_EMBEDDED_DOCTOR_VERIFY_H
#define STORE_EMBEDDED_DOCTOR_VERIFY_H

#include "store/embedded/doctor/doctor.h"

/* CORRUPT: the pages are malformed. */
enum status verify_file(struct doctor *doctor, struct err *err);
enum status verify_journal(struct doctor *doctor, struct err *err);

#endif
