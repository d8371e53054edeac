/* upkeep: what looks after the DLQs by itself, wired to the configuration of the moment: retention,
 * and triage rules. A thread each. */
#ifndef APP_UPKEEP_H
#define APP_UPKEEP_H

#include "app/config_current.h"
#include "triage/replays.h"
#include "triage/triage_rules.h"

struct upkeep;

struct upkeep_options {
    struct triage *triage;
    struct replays *replays;
    struct bytes base_dir; /* what relative archives are relative to; outlives the upkeep */
    struct config_current *current;
    void (*news)(void *arg); /* alerts should look again; from the rules' thread */
    void *arg;
};

/* Takes up what earlier lives left, and starts. */
enum status upkeep_start(const struct upkeep_options *options, struct upkeep **out,
                         struct err *err);
struct triage_rules *upkeep_rules(struct upkeep *upkeep);
void upkeep_reload(struct upkeep *upkeep); /* the configuration has changed */
/* Nothing is begun any more. The rules can still be looked at. NULL-safe. */
void upkeep_stop(struct upkeep *upkeep);
void upkeep_free(struct upkeep *upkeep); /* NULL-safe */

#endif
