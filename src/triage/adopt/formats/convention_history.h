/* convention_history: earlier failures that a dead letter's own record lists. Pure. */
#ifndef TRIAGE_CONVENTION_HISTORY_H
#define TRIAGE_CONVENTION_HISTORY_H

#include "triage/adopt/formats/convention_row.h"

/* Adds a line of history for each object of the body's list `history`: {"attempt":n, "err":TYPE,
 * "msg":TEXT, "class":"transient"|"terminal"}. A line without a number has that of its place in the
 * list; no time is known. Beyond ENVELOPE_HISTORY_MAX the newest are kept. Texts are the letter's
 * or in the arena (heap). */
void convention_history_read(const struct convention_letter *letter, struct envelope *envelope,
                             struct arena *arena);

#endif
