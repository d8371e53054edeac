/* mend_tables: for doctor --repair: drops invalid rows of the small tables, and restores their
 * contents from other files: packs from their files, queues from the envelopes of their messages.
 * Counters are recounted (counters.h). */
#ifndef STORE_EMBEDDED_DOCTOR_MEND_TABLES_H
#define STORE_EMBEDDED_DOCTOR_MEND_TABLES_H

#include "store/embedded/doctor/doctor.h"

/* Restores the packs table from the existing files. Called outside of a transaction. */
enum status mend_tables_packs(struct doctor *doctor, struct err *err);
/* Repairs all other tables. Called inside the transaction, before the journal is recovered. */
enum status mend_tables(struct doctor *doctor, struct err *err);
/* Finds the number of the queue with that name. `number` is the one in a message: it is assigned to
 * the queue if the queue has none and no other queue has that number. */
enum status mend_tables_queue(struct doctor *doctor, struct bytes name, uint32_t number,
                              uint32_t *out, struct err *err);

#endif
