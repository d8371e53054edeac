/* convention_history: earlier failures listed in a dead letter's own record. Pure. */
#ifndef TRIAGE_CONVENTION_HISTORY_H
#define TRIAGE_CONVENTION_HISTORY_H

#include "triage/adopt/formats/convention_row.h"

/* Adds a history line for each object of the body's array `history`: {"attempt":n, "err":TYPE,
 * "msg":TEXT, "class":"transient"|"terminal"}. A line without a number gets its position in the
 * list; it has no time. Beyond ENVELOPE_HISTORY_MAX the newest are kept. Texts are the letter's or
 * in the arena (heap). */
void convention_history_read(const struct convention_letter *letter, struct envelope *envelope,
                             struct arena *arena);

#endif
