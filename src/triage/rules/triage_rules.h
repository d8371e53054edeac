/* triage_rules: runs the triage rules of the configuration: each on its schedule takes the oldest
 * letters that match, and applies its action (DESIGN §9).
 *
 * An action and the rule's new schedule are one commit, so that after a crash no run is repeated or
 * lost. A rule's replay is an ordinary replay, whose end the rule awaits; rules that do not help
 * stop themselves (rule_schedule.h).
 *
 * triage_rules_step does what is due and may wait for the store; tests call it directly.
 * triage_rules_run calls it on a thread of its own. The other functions may be called from any
 * thread. */
#ifndef TRIAGE_RULES_TRIAGE_RULES_H
#define TRIAGE_RULES_TRIAGE_RULES_H

#include "triage/replay/replays.h"
#include "triage/rules/rule_schedule.h"

struct triage_rules;

struct triage_rules_options {
    struct triage *triage;
    struct replays *replays;
    struct bytes base_dir; /* base of relative archive paths */
    /* The current configuration, in the order of the file; texts and rules are in the arena or
     * outlive the process. A DLQ may be named twice, with the same rules. */
    size_t (*dlqs)(void *arg, struct arena *arena, struct triage_dlq **out);
    bool (*compensates)(void *arg, struct bytes queue); /* the queue has a compensating handler */
    void (*news)(
        void *arg); /* triage_rules_news has changed; called on the rules' thread. May be NULL */
    void *arg;
};

struct triage_rules *triage_rules_new(const struct triage_rules_options *options);
/* Crash recovery: loads the stored schedules. Before the first step, after replays_recover. */
enum status triage_rules_recover(struct triage_rules *rules, struct err *err);
/* Returns when the next step is due unless it is woken. */
struct mono triage_rules_step(struct triage_rules *rules, struct instant now);
/* Runs steps on the calling thread until triage_rules_stop. */
void triage_rules_run(struct triage_rules *rules);
void triage_rules_reload(struct triage_rules *rules); /* the configuration has changed */
void triage_rules_stop(struct triage_rules *rules);
void triage_rules_free(
    struct triage_rules *rules); /* NULL-safe; after triage_rules_run has returned */

/* Resumes the stopped rules of a DLQ; durable when it returns. NOT_FOUND: the DLQ has no rules.
 * CONFLICT: none of them has stopped. */
enum status triage_rules_resume(struct triage_rules *rules, struct bytes dlq, struct bytes who,
                                struct bytes why, struct err *err);

/* ---- views; `rules` may be NULL: none ---- */

/* Appends an array with one object for each rule of the DLQ: "rule", its settings, and its
 * schedule. */
void triage_rules_put(struct triage_rules *rules, struct bytes dlq, struct json_out *json);

struct triage_rules_totals {
    uint64_t letters[TRIAGE_ACTION_COUNT]; /* ever taken, by action */
    uint64_t fixed, failed, escalated;     /* … and their outcomes */
    uint64_t stopped;                      /* rules that stopped themselves */
};
/* Sums of one DLQ, or (empty) of all. */
void triage_rules_totals(struct triage_rules *rules, struct bytes dlq,
                         struct triage_rules_totals *out);

/* A fact for the alerts. */
struct triage_rules_news {
    bool ticket;          /* letters were escalated; otherwise a rule has stopped */
    struct bytes subject; /* "orders.dlq/0"; for a ticket followed by "/<id>" */
    struct bytes words;
    const struct bytes
        *to; /* receivers of a ticket; none: all. Lives as long as the configuration */
    size_t to_count;
};
/* In the arena. */
size_t triage_rules_news(struct triage_rules *rules, struct arena *arena,
                         struct triage_rules_news **out);

#endif
