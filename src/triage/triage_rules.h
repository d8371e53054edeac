/* triage_rules: walks through the DLQs by itself: each rule of the configuration runs on its
 * schedule, takes the oldest letters that match, and does with them what it says (DESIGN §9).
 *
 * What a rule does and that it did so are one commit, so that a life that ends anywhere neither
 * repeats a run nor forgets one. A replay by rule is an ordinary replay, which the rule waits for;
 * rules that do not help stop themselves (triage_course.h).
 *
 * triage_rules_step does what is due and may wait for the store; a test drives it by hand.
 * triage_rules_run is the thread that calls it. The rest may be called from any thread. */
#ifndef TRIAGE_TRIAGE_RULES_H
#define TRIAGE_TRIAGE_RULES_H

#include "triage/replays.h"
#include "triage/triage_course.h"

struct triage_rules;

struct triage_rules_options {
    struct triage *triage;
    struct replays *replays;
    struct bytes base_dir; /* what relative archives are relative to */
    /* What the configuration says at this moment, in the order of the file; texts and rules in the
     * arena, or as good as for ever. A DLQ may be named twice, with the same rules. */
    size_t (*dlqs)(void *arg, struct arena *arena, struct triage_dlq **out);
    bool (*compensates)(void *arg, struct bytes queue); /* it has a compensating handler */
    void (*news)(void *arg); /* triage_rules_news has some; from the rules' thread. NULL: nobody */
    void *arg;
};

struct triage_rules *triage_rules_new(const struct triage_rules_options *options);
/* Takes up what earlier lives left. Before the first step, after replays_recover. */
enum status triage_rules_recover(struct triage_rules *rules, struct err *err);
/* Returns when the next step is wanted if nothing happens before. */
struct mono triage_rules_step(struct triage_rules *rules, struct instant now);
/* Steps until triage_rules_stop; the calling thread becomes the rules'. */
void triage_rules_run(struct triage_rules *rules);
void triage_rules_reload(struct triage_rules *rules); /* the configuration has changed */
void triage_rules_stop(struct triage_rules *rules);
void triage_rules_free(struct triage_rules *rules); /* NULL-safe; nobody runs it any more */

/* Starts those rules of a DLQ again that stopped themselves; durable when it returns. NOT_FOUND:
 * the DLQ has no rules. CONFLICT: none of them has stopped. */
enum status triage_rules_resume(struct triage_rules *rules, struct bytes dlq, struct bytes who,
                                struct bytes why, struct err *err);

/* ---- what people see; NULL: there are no rules ---- */

/* An array of objects, one for each rule of the DLQ: "rule", its words, and its course. */
void triage_rules_put(struct triage_rules *rules, struct bytes dlq, struct json_out *json);

struct triage_rules_totals {
    uint64_t letters[TRIAGE_ACTION_COUNT]; /* ever taken, by what was done with them */
    uint64_t fixed, failed, escalated;     /* … and what became of them */
    uint64_t stopped;                      /* rules that stopped themselves */
};
/* Of one DLQ, or (empty) of all. */
void triage_rules_totals(struct triage_rules *rules, struct bytes dlq,
                         struct triage_rules_totals *out);

/* What alerts should hear of. */
struct triage_rules_news {
    bool ticket;          /* letters were escalated; else: a rule has stopped */
    struct bytes subject; /* "orders.dlq/0", of a ticket with "/<id>" behind it */
    struct bytes words;
    const struct bytes *to; /* of a ticket, none: everybody; as long as the configuration */
    size_t to_count;
};
/* In the arena. */
size_t triage_rules_news(struct triage_rules *rules, struct arena *arena,
                         struct triage_rules_news **out);

#endif
