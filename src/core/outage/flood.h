/* flood: whether a queue's messages suddenly die of one failure (SEMANTICS 4.9). Pure: the caller
 * gives the time, and keeps the counts over a restart.
 *
 *   hour before (by the minute)                    window (in slots)
 *   |---- less than 5 % died of the group ----|----- share of at least `of` did: a flood -----| now
 *
 * It counts first attempts that ended, and of those the dead ones by fingerprint. The caller does
 * not count replayed letters. A flood lasts for as long as the share stays, or until the caller
 * ends it. */
#ifndef CORE_OUTAGE_FLOOD_H
#define CORE_OUTAGE_FLOOD_H

#include "base/bytes.h"
#include "base/instant.h"

enum {
    FLOOD_SHARE_PERMILLE = 800,
    FLOOD_OF = 50,
    FLOOD_WINDOW_MS = 60 * 1000,
    FLOOD_WINDOW_MOST_MS = 10 * 60 * 1000,
    FLOOD_BEFORE_PERMILLE = 50,      /* share in the hour before from which on it is not a flood */
    FLOOD_PASS_MS = 60 * 60 * 1000,  /* longest time that a group passes after a resume */
    FLOOD_SLOTS = 30,                /* of a window */
    FLOOD_HOUR = 60,                 /* minutes before the window that are compared */
    FLOOD_MINUTES = FLOOD_HOUR + 12, /* minutes that are kept, including the window's */
    FLOOD_GROUPS = 32,               /* fingerprints counted at a time */
    FLOOD_VERSION_MAX = 128,         /* bytes of a consumer's version */
};

/* Zeroed, a policy is off. */
enum flood_then { FLOOD_OFF, FLOOD_ALERT, FLOOD_HOLD };

struct flood_policy {
    uint32_t share_permille;
    uint32_t of;
    int64_t window_ms;
    enum flood_then then;
};

/* Counts of one kind: of all first attempts, or of those that died of one group. */
struct flood_counts {
    uint32_t slots[FLOOD_SLOTS];
    uint32_t minutes[FLOOD_MINUTES];
};

struct flood_group {
    uint64_t fingerprint;
    bool used;
    struct flood_counts dead;
};

/* Zeroed: nothing was counted. */
struct flood {
    bool begun;
    int64_t slot, minute; /* the newest ones */
    int64_t slot_ms;
    struct flood_counts first;
    struct flood_group groups[FLOOD_GROUPS];
    /* The current flood: */
    bool on;
    uint64_t fingerprint;
    char version[FLOOD_VERSION_MAX]; /* the consumer's version that came with it; "": unknown */
    uint32_t dead, of;               /* in the window, as last counted */
    /* The group that passes after a resume: */
    bool passes;
    uint64_t pass_fingerprint;
    char pass_version[FLOOD_VERSION_MAX];
    struct mono pass_until;
};

/* One first attempt that ended. */
struct flood_note {
    bool dead;
    uint64_t fingerprint; /* if dead */
    struct bytes version; /* of the consumer; empty: not known */
};

void flood_policy_init(struct flood_policy *policy);
/* True: a flood begins with this attempt. */
bool flood_count(struct flood *flood, const struct flood_policy *policy, struct mono now,
                 const struct flood_note *note);
/* Whether the current flood continues at `now`. `held`: its queue is halted for it, so that nothing
 * is counted and it continues. */
bool flood_lasts(struct flood *flood, const struct flood_policy *policy, struct mono now,
                 bool held);
/* The queue was resumed: the flood's group passes until the consumer's version changes, at most
 * FLOOD_PASS_MS. */
void flood_resume(struct flood *flood, struct mono now);

/* ---- over a restart ---- */

/* Counts of the minute that is `ago` minutes old. */
uint32_t flood_minute(const struct flood *flood, const struct flood_counts *counts, struct mono now,
                      size_t ago);
/* Before anything is counted: `count` first attempts `ago` minutes ago … */
void flood_restore_first(struct flood *flood, struct mono now, size_t ago, uint32_t count);
/* … and of those `count` died of the group. */
void flood_restore_dead(struct flood *flood, struct mono now, uint64_t fingerprint, size_t ago,
                        uint32_t count);

#endif
