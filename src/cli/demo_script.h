/* demo_script: what the tour says and does, in order. */
#ifndef CLI_DEMO_SCRIPT_H
#define CLI_DEMO_SCRIPT_H

#define DEMO_SCRIPT_RUN "{run}" /* in a command: what this run's ids end with */

enum demo_script_kind {
    DEMO_SCRIPT_END,
    DEMO_SCRIPT_PART,     /* a new part, of this title */
    DEMO_SCRIPT_SAY,      /* this text */
    DEMO_SCRIPT_COMMAND,  /* what stands behind "impound": printed, then run */
    DEMO_SCRIPT_PROMPTS,  /* that many are pushed for model m1; their ids begin with this text */
    DEMO_SCRIPT_PROVIDER, /* is an enum demo_worker_provider from now on */
    DEMO_SCRIPT_REST,     /* wait until this queue has nothing to do */
    DEMO_SCRIPT_HELD,     /* wait until its breaker is open */
};

struct demo_script_act {
    enum demo_script_kind kind;
    const char *text;
    int number;
};

extern const struct demo_script_act demo_script_acts[]; /* up to DEMO_SCRIPT_END */

#endif
