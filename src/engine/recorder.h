/* recorder: the flight recorder. Which messages are in a handler's hands, in a mapped file that
 * survives our death without an fsync per attempt (SEMANTICS 5.2).
 *
 * A slot is used (seq ≠ 0) from hand-over until what became of the message is durable. At the next
 * start the used slots tell what our death interrupted:
 *
 *   FOREIGN                another process had it: interrupted
 *   ENDED                  the handler was through with it: interrupted
 *   RUNNING  ─▶ SUSPECT    several were inside our process: one of them may have killed it …
 *   RUNNING  ─▶ BLAMED     … it was the only one
 *   ALONE    ─▶ BLAMED     … it was the suspect whose turn it was
 *
 * SUSPECT and BLAMED stay in the file, over further deaths too, until they are claimed and their
 * slot is cleared; all else is of the last run alone. */
#ifndef ENGINE_RECORDER_H
#define ENGINE_RECORDER_H

#include "base/instant.h"
#include "base/status.h"

struct recorder;

enum recorder_state {
    RECORDER_FOREIGN,
    RECORDER_RUNNING,
    RECORDER_ALONE,
    RECORDER_ENDED,
    RECORDER_SUSPECT,
    RECORDER_BLAMED,
};

struct recorder_entry {
    uint64_t seq;
    uint32_t attempt;
    struct wall started_at;
    enum recorder_state state;
    uint32_t slot; /* of SUSPECT and BLAMED: the claimer's, to clear; RECORDER_NO_SLOT for others */
};

enum { RECORDER_NO_SLOT = 0 };

/* Without recorder_open it records in memory alone. */
struct recorder *recorder_new(void);
/* Maps the file, made if need be, and remembers what it says of the last run. */
enum status recorder_open(struct recorder *recorder, const char *path, struct err *err);
void recorder_free(struct recorder *recorder);
/* Notes a hand-over (FOREIGN, RUNNING or ALONE). The slot to clear later. */
uint32_t recorder_note(struct recorder *recorder, uint64_t seq, uint32_t attempt, struct wall at,
                       enum recorder_state state);
/* The handler is through with it: our death from now on is none of its doing. */
void recorder_end(struct recorder *recorder, uint32_t slot);
void recorder_clear(struct recorder *recorder, uint32_t slot);
/* What the last run was doing with this message when it died; NULL: nothing, or it was claimed. */
const struct recorder_entry *recorder_find(const struct recorder *recorder, uint64_t seq);
/* The same; true at most once a message. */
bool recorder_claim(struct recorder *recorder, uint64_t seq, struct recorder_entry *out);

#endif
