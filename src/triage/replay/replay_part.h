/* replay_part: up to a thousand letters of a replay's frozen selection, and their outcomes.
 *
 * A part is two texts in the store. The letters never change: [["orders","0190…"],…]. The outcomes
 * change, one character for each letter: {"outcomes":"rrrfs…","why":{"3":"…"}}. An outcome is
 * written in the commit that sends the letter, so that after a crash the two agree. */
#ifndef TRIAGE_REPLAY_REPLAY_PART_H
#define TRIAGE_REPLAY_REPLAY_PART_H

#include "base/containers/list.h"
#include "triage/replay/replay.h"
#include "triage/triage.h"

enum { REPLAY_PART_LETTERS = 1000, REPLAY_WHY_MAX = 256 };
/* Retention of a replay's texts. */
#define REPLAY_KEPT_MS (INT64_C(90) * 24 * 3600 * 1000)

struct replay_letter {
    struct bytes queue, id; /* of the letter */
};

struct replay_note {
    struct replay_note *next;
    uint32_t at;
    struct bytes why;
};

struct replay_part {
    struct list link;
    uint32_t number;
    uint32_t count;
    struct replay_letter letters[REPLAY_PART_LETTERS];
    char outcomes[REPLAY_PART_LETTERS];
    struct replay_note *notes;
    bool dirty;         /* outcomes changed since the last commit */
    struct arena arena; /* of the texts */
};

struct replay_part *replay_part_new(uint32_t number);
void replay_part_free(struct replay_part *part);
/* Only before it is first stored. */
void replay_part_add(struct replay_part *part, struct bytes queue, struct bytes id);
void replay_part_note(struct replay_part *part, uint32_t at, enum replay_outcome outcome,
                      struct bytes why);
enum replay_outcome replay_part_outcome(const struct replay_part *part, uint32_t at);
struct bytes replay_part_why(const struct replay_part *part, uint32_t at); /* empty: none */
/* Adds the number of letters of each outcome. */
void replay_part_count(const struct replay_part *part, struct replay_counts *into);

/* The ops that store a part of replay `id`; texts are in the arena. */
struct store_op replay_part_letters_op(const struct replay_part *part, const char *id,
                                       struct wall now, struct arena *arena);
struct store_op replay_part_outcomes_op(const struct replay_part *part, const char *id,
                                        struct wall now, struct arena *arena);
/* Loads a part; without outcomes, no letter was sent. */
enum status replay_part_load(struct triage *triage, const char *id, uint32_t number,
                             struct replay_part **out, struct err *err);
/* The same from the two texts; `outcomes` may be BYTES_NONE. CORRUPT: damaged. */
enum status replay_part_decode(struct bytes letters, struct bytes outcomes,
                               struct replay_part *into, struct err *err);

#endif
