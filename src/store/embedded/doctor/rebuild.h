/* rebuild: a new SQLite file from the packs, for one that was lost or is malformed. The packs have
 * every message's envelope and body, but not what became of it since: whether it was done, resolved
 * or deleted only the lost file knew, and the journal of what came last. So letters come back as
 * their envelopes say, and what would run again by itself comes back as a letter, for a person to
 * decide; whatever the journal says is then applied on top. */
#ifndef STORE_EMBEDDED_DOCTOR_REBUILD_H
#define STORE_EMBEDDED_DOCTOR_REBUILD_H

#include "core/envelope/envelope.h"
#include "store/embedded/doctor/doctor.h"
#include "store/embedded/pages/pack.h"

/* The file hears of them, so that they can be opened. */
enum status rebuild_register(struct doctor *doctor, struct err *err);
/* Calls `visit` with every whole record of every pack, in the order of their places. */
enum status rebuild_visit(struct doctor *doctor,
                          enum status (*visit)(void *arg, const struct pack_record *record),
                          void *arg, struct err *err);
/* A message that would run again by itself becomes a letter with that reason. */
void rebuild_for_people(struct envelope *envelope, struct wall now, const char *reason,
                        struct arena *arena);
struct bytes rebuild_dlq(struct bytes queue, struct arena *arena);
/* Inside a transaction of the file, and before the journal is salvaged. */
enum status rebuild_rows(struct doctor *doctor, struct err *err);

#endif
