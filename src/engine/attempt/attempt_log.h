/* attempt log: the messages that are in flight at a handler, in a mapped file that survives a crash
 * of the process without an fsync per attempt (SEMANTICS 5.2).
 *
 * A slot is used (seq ≠ 0) from the hand-over until the message's result is durable. At the next
 * start the used slots show which attempts the crash interrupted:
 *
 *   FOREIGN                another process had the message: interrupted
 *   ENDED                  the handler had finished with it: interrupted
 *   RUNNING  ─▶ SUSPECT    several messages were inside our process: one may have crashed it …
 *   RUNNING  ─▶ BLAMED     … it was the only one
 *   ALONE    ─▶ BLAMED     … it was a suspect that ran alone
 *
 * SUSPECT and BLAMED stay in the file, over further crashes too, until they are claimed and their
 * slot is cleared; the other entries are of the last run only. */
#ifndef ENGINE_ATTEMPT_LOG_H
#define ENGINE_ATTEMPT_LOG_H

#include "base/instant.h"
#include "base/status.h"

struct attempt_log;

enum attempt_log_state {
    ATTEMPT_LOG_FOREIGN,
    ATTEMPT_LOG_RUNNING,
    ATTEMPT_LOG_ALONE,
    ATTEMPT_LOG_ENDED,
    ATTEMPT_LOG_SUSPECT,
    ATTEMPT_LOG_BLAMED,
};

struct attempt_log_entry {
    uint64_t seq;
    uint32_t attempt;
    struct wall started_at;
    enum attempt_log_state state;
    /* SUSPECT and BLAMED: for the claimer to clear; else ATTEMPT_LOG_NO_SLOT */
    uint32_t slot;
};

enum { ATTEMPT_LOG_NO_SLOT = 0 };

/* Without attempt_log_open it records in memory only. */
struct attempt_log *attempt_log_new(void);
/* Maps the file, creating it if necessary, and loads the entries of the last run. */
enum status attempt_log_open(struct attempt_log *attempt_log, const char *path, struct err *err);
void attempt_log_free(struct attempt_log *attempt_log);
/* Notes a hand-over (FOREIGN, RUNNING or ALONE). Returns the slot, to be cleared later. */
uint32_t attempt_log_note(struct attempt_log *attempt_log, uint64_t seq, uint32_t attempt,
                          struct wall at, enum attempt_log_state state);
/* The handler has finished with the message: a crash from now on is not attributed to it. */
void attempt_log_end(struct attempt_log *attempt_log, uint32_t slot);
void attempt_log_clear(struct attempt_log *attempt_log, uint32_t slot);
/* The state of this message when the last run crashed; NULL: not in flight, or claimed already. */
const struct attempt_log_entry *attempt_log_find(const struct attempt_log *attempt_log,
                                                 uint64_t seq);
/* Like attempt_log_find, but true at most once for a message. */
bool attempt_log_claim(struct attempt_log *attempt_log, uint64_t seq,
                       struct attempt_log_entry *out);

#endif
