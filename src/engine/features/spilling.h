/* spilling: letters for a DLQ that is full and spills go to the archive (SEMANTICS 4.5), where they
 * are safe before the commit that forgets them. The engine's own.
 *
 *   NONE: it fits, or its DLQ does not spill
 *   WAITS: a commit under way may fill the DLQ, so that nobody can tell; looked at next turn
 *   CHOSEN ──append, sync──▶ SYNCED: the commit forgets it
 */
#ifndef ENGINE_SPILLING_H
#define ENGINE_SPILLING_H

#include "engine/state.h"

/* Of all attempts decided: chooses, and makes safe what is chosen. When that fails, what is CHOSEN
 * MUST NOT be committed. */
enum status spilling_decided(struct engine *engine, struct err *err);

#endif
