/* recorder: the flight recorder. Which messages are in a handler's hands, in a mapped file that
 * survives our death without an fsync per attempt (SEMANTICS 5.2).
 *
 * A slot is used (seq ≠ 0) from hand-over until what became of the message is durable. At the next
 * start the used slots tell what our death interrupted. */
#ifndef ENGINE_RECORDER_H
#define ENGINE_RECORDER_H

#include "base/instant.h"
#include "base/status.h"

struct recorder;

struct recorder_entry {
    uint64_t seq;
    uint32_t attempt;
    struct wall started_at;
};

enum { RECORDER_NO_SLOT = 0 };

/* Without recorder_open it records in memory alone. */
struct recorder *recorder_new(void);
/* Maps the file, made if need be, and remembers what it says of the last run. */
enum status recorder_open(struct recorder *recorder, const char *path, struct err *err);
void recorder_free(struct recorder *recorder);
/* The slot to clear later. */
uint32_t recorder_note(struct recorder *recorder, uint64_t seq, uint32_t attempt, struct wall at);
void recorder_clear(struct recorder *recorder, uint32_t slot);
/* What the last run was doing with this message when it died; true at most once a message. */
bool recorder_claim(struct recorder *recorder, uint64_t seq, struct recorder_entry *out);

#endif
