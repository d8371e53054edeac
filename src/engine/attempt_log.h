/* attempt log: the attempt log. Which messages are in a handler's hands, in a mapped file that
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
    uint32_t slot; /* of SUSPECT and BLAMED: the claimer's, to clear; RECORDER_NO_SLOT for others */
};

enum { ATTEMPT_LOG_NO_SLOT = 0 };

/* Without recorder_open it records in memory alone. */
struct attempt_log *attempt_log_new(void);
/* Maps the file, made if need be, and remembers what it says of the last run. */
enum status attempt_log_open(struct attempt_log *attempt_log, const char *path, struct err *err);
void attempt_log_free(struct attempt_log *attempt_log);
/* Notes a hand-over (FOREIGN, RUNNING or ALONE). The slot to clear later. */
uint32_t attempt_log_note(struct attempt_log *attempt_log, uint64_t seq, uint32_t attempt,
                          struct wall at, enum attempt_log_state state);
/* The handler is through with it: our death from now on is none of its doing. */
void attempt_log_end(struct attempt_log *attempt_log, uint32_t slot);
void attempt_log_clear(struct attempt_log *attempt_log, uint32_t slot);
/* What the last run was doing with this message when it died; NULL: nothing, or it was claimed. */
const struct attempt_log_entry *attempt_log_find(const struct attempt_log *attempt_log,
                                                 uint64_t seq);
/* The same; true at most once a message. */
bool attempt_log_claim(struct attempt_log *attempt_log, uint64_t seq,
                       struct attempt_log_entry *out);

#endif
