/* rebuild: makes a new SQLite file from the packs, if the file is missing or malformed. The packs
 * have every message's envelope and body, but not its later history: only the lost file, and the
 * journal for the last changes, recorded whether a message succeeded, was resolved or was deleted.
 * So letters are restored as their envelopes say, and messages that would run again without a
 * decision are restored as letters, for review. Then the records of the journal are applied. */
#ifndef STORE_EMBEDDED_DOCTOR_REBUILD_H
#define STORE_EMBEDDED_DOCTOR_REBUILD_H

#include "core/envelope/envelope.h"
#include "store/embedded/doctor/doctor.h"
#include "store/embedded/pages/pack.h"

/* Adds the packs to the file's table, so that they can be opened. */
enum status rebuild_register(struct doctor *doctor, struct err *err);
/* Calls `visit` with every intact record of every pack, ordered by place. */
enum status rebuild_visit(struct doctor *doctor,
                          enum status (*visit)(void *arg, const struct pack_record *record),
                          void *arg, struct err *err);
/* Turns a message that would run again without a decision into a letter with that reason. */
void rebuild_for_people(struct envelope *envelope, struct wall now, const char *reason,
                        struct arena *arena);
struct bytes rebuild_dlq(struct bytes queue, struct arena *arena);
/* Called inside a transaction of the file, before the journal is recovered. */
enum status rebuild_rows(struct doctor *doctor, struct err *err);

#endif
