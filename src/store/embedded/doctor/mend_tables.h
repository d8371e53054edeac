/* mend_tables: for doctor --repair: rows of the small tables that nothing can use are dropped, and
 * what they said is taken from elsewhere: packs from their files, queues from the envelopes of
 * their messages. Counters are counted anew (counters.h). */
#ifndef STORE_EMBEDDED_DOCTOR_MEND_TABLES_H
#define STORE_EMBEDDED_DOCTOR_MEND_TABLES_H

#include "store/embedded/doctor/doctor.h"

/* The packs table from the files that are there. Outside of a transaction. */
enum status mend_tables_packs(struct doctor *doctor, struct err *err);
/* All other tables. Inside the transaction, before the journal is salvaged. */
enum status mend_tables(struct doctor *doctor, struct err *err);
/* The number of the queue with that name. `number` is the one that a message has: it is given to
 * the queue if the queue has none and no other queue has that number. */
enum status mend_tables_queue(struct doctor *doctor, struct bytes name, uint32_t number,
                              uint32_t *out, struct err *err);

#endif
