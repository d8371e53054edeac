/* rule_schedule: the schedule of a triage rule: its state, next run and counters. Pure, except for
 * its stored form.
 *
 *               due, letters match               ended, it helped
 *   WAITING ───────────────────────▶ RUNNING ────────────────────▶ WAITING, for `every`
 *      ▲                                │ it did not help: WAITING, twice as long each time
 *      │   resumed, or the rule         │ … and for the `stop_after`th time in a row
 *      └────── has changed ── STOPPED ◀─┘
 *
 * Actions that are complete with their commit (archive, escalate, discard) never enter RUNNING. */
#ifndef TRIAGE_RULES_RULE_SCHEDULE_H
#define TRIAGE_RULES_RULE_SCHEDULE_H

#include "triage/rules/triage_rule.h"

enum { TRIAGE_WHY_MAX = 256 };

enum triage_stage { TRIAGE_WAITING, TRIAGE_RUNNING, TRIAGE_STOPPED, TRIAGE_STAGE_COUNT };

struct rule_schedule {
    enum triage_stage stage;
    char why[TRIAGE_WHY_MAX]; /* why the last run did not help; or "" */
    struct wall last_run_at, next_run_at;
    char replay[UUID_TEXT_SIZE]; /* RUNNING: its replay; "": compensations */
    uint32_t useless;            /* consecutive runs that did not help */
    uint64_t runs;
    uint64_t letters[TRIAGE_ACTION_COUNT]; /* letters taken, by action */
    uint64_t fixed, failed, escalated;     /* … and their outcomes */
    /* escalate: id of the ticket of the last run, until receivers were notified; "": none */
    char ticket[UUID_TEXT_SIZE];
    uint64_t ticket_letters;
};

const char *rule_schedule_stage_text(enum triage_stage stage);

/* A new or changed rule: starts afresh. */
void rule_schedule_begin(struct rule_schedule *course, const struct triage_rule *rule,
                         struct wall now);
/* The run is complete. */
void rule_schedule_rest(struct rule_schedule *course, const struct triage_rule *rule,
                        struct wall now);

/* The result of a run. */
struct triage_counts {
    uint64_t sent, fixed, failed, escalated;
    bool aborted;
    char why[TRIAGE_WHY_MAX]; /* aborted: why */
};
/* Ends a run: adds its result, then waits or stops. A run did not help if more than half of at
 * least TRIAGE_JUDGED_LEAST letters sent are dead again, if it could neither send nor escalate any,
 * or if it was aborted by its canary or by a person. */
void rule_schedule_judge(struct rule_schedule *course, const struct triage_rule *rule,
                         const struct triage_counts *counter, struct wall now);
/* Resumes a stopped rule: it is due now. */
void rule_schedule_resume(struct rule_schedule *course, struct wall now);
/* The wait after `useless` consecutive runs that did not help. */
int64_t rule_schedule_wait_ms(const struct triage_rule *rule, uint32_t useless);

/* Members "state", "why", "last_run_at" … */
void rule_schedule_put(struct json_out *json, const struct rule_schedule *course);
/* Reads the members. CORRUPT: damaged. */
enum status rule_schedule_read(struct json object, struct rule_schedule *out, struct err *err);

#endif
