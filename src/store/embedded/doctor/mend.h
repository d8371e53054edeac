/* mend: for doctor --repair: restores rows whose bytes or columns are damaged, from the remaining
 * columns, envelope, body and packs. No row is given up: if its envelope is lost, most of it is
 * restored from the columns; if its body is lost, the envelope is marked (envelope.body_damaged).
 */
#ifndef STORE_EMBEDDED_DOCTOR_MEND_H
#define STORE_EMBEDDED_DOCTOR_MEND_H

#include "store/embedded/doctor/doctor.h"

/* Restores the rows of doctor->unreadable that the journal did not restore. Called inside the
 * transaction. */
enum status mend_rows(struct doctor *doctor, struct err *err);

#endif
