/* triage_course: how a triage rule is doing. Pure, but for its text in the store.
 *
 *               due, letters match              over, it helped
 *   WAITING ───────────────────────▶ RUNNING ────────────────────▶ WAITING, for `every`
 *      ▲                                │ it did not help: WAITING, twice as long each time
 *      │   resumed, or the rule         │ … and for the `stop_after`th time in a row
 *      └────── has changed ── STOPPED ◀─┘
 *
 * Actions that end with their commit (archive, escalate, discard) never run: the wait goes on. */
#ifndef TRIAGE_TRIAGE_COURSE_H
#define TRIAGE_TRIAGE_COURSE_H

#include "triage/triage_rule.h"

enum { TRIAGE_WHY_MAX = 256 };

enum triage_stage { TRIAGE_WAITING, TRIAGE_RUNNING, TRIAGE_STOPPED, TRIAGE_STAGE_COUNT };

struct triage_course {
    enum triage_stage stage;
    char why[TRIAGE_WHY_MAX]; /* of what the last run came to, where it did not help; or "" */
    struct wall last_run_at, next_run_at;
    char replay[UUID_TEXT_SIZE]; /* RUNNING: its replay; "": it compensates */
    uint32_t useless;            /* runs in a row that did not help */
    uint64_t runs;
    uint64_t letters[TRIAGE_ACTION_COUNT]; /* that it took */
    uint64_t fixed, failed, escalated;     /* … and what became of them */
    /* escalate with `to`: the last run, until receivers have been told of it; "": nothing to tell
     */
    char ticket[UUID_TEXT_SIZE];
    uint64_t ticket_letters;
};

const char *triage_course_stage_text(enum triage_stage stage);

/* A rule that is new, or not the one that it was: it has another chance. */
void triage_course_begin(struct triage_course *course, const struct triage_rule *rule,
                         struct wall now);
/* It ran, and there is nothing more to wait for. */
void triage_course_rest(struct triage_course *course, const struct triage_rule *rule,
                        struct wall now);

/* What a run came to. */
struct triage_tally {
    uint64_t sent, fixed, failed, escalated;
    bool aborted;
    char why[TRIAGE_WHY_MAX]; /* aborted: by what */
};
/* It is over: it counts, and waits or stops. It did not help when more than half of at least
 * TRIAGE_JUDGED_LEAST letters sent are dead again, when it could neither send nor escalate any, and
 * when it was aborted, by its canary or by a person. */
void triage_course_judge(struct triage_course *course, const struct triage_rule *rule,
                         const struct triage_tally *tally, struct wall now);
/* Somebody wants it to go on: it is due. */
void triage_course_resume(struct triage_course *course, struct wall now);
/* How long it waits after so many useless runs in a row. */
int64_t triage_course_wait_ms(const struct triage_rule *rule, uint32_t useless);

/* Members "state", "why", "last_run_at" … */
void triage_course_put(struct json_out *json, const struct triage_course *course);
/* Reads them back. CORRUPT: they are none. */
enum status triage_course_read(struct json object, struct triage_course *out, struct err *err);

#endif
