/* mend: for doctor --repair: rows whose bytes or columns are damaged, made again from what the
 * row's columns, its envelope, its body and the packs still hold. No row is given up: where its
 * envelope is lost its columns tell most of it, and where its body is lost the envelope says so
 * (envelope.body_damaged). */
#ifndef STORE_EMBEDDED_DOCTOR_MEND_H
#define STORE_EMBEDDED_DOCTOR_MEND_H

#include "store/embedded/doctor/doctor.h"

/* Those of doctor->unreadable that the journal did not make whole. Inside the transaction. */
enum status mend_rows(struct doctor *doctor, struct err *err);

#endif
