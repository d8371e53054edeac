/* spilling: letters for a full DLQ with `on_full: spill` go to its archive (SEMANTICS 4.5), where
 * they are durable before the commit that forgets them. Private to the engine.
 *
 *   NONE: the letter fits, or its DLQ does not spill
 *   WAITS: a commit under way may fill the DLQ, so it is undecided; checked again next turn
 *   CHOSEN ──append, sync──▶ SYNCED: the commit forgets it */
#ifndef ENGINE_SPILLING_H
#define ENGINE_SPILLING_H

#include "engine/state.h"

/* Chooses among all decided attempts, and writes the chosen ones to the archive durably. On failure
 * the CHOSEN attempts MUST NOT be committed. */
enum status spilling_decided(struct engine *engine, struct err *err);

#endif
