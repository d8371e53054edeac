/* maintenance: the periodic work on DLQs, retention and triage rules, wired to the present
 * configuration. One thread each. */
#ifndef APP_MAINTENANCE_H
#define APP_MAINTENANCE_H

#include "app/wiring/config_current.h"
#include "triage/replay/replays.h"
#include "triage/rules/triage_rules.h"

struct maintenance;

struct maintenance_options {
    struct triage *triage;
    struct replays *replays;
    struct bytes base_dir; /* relative paths of archives start here; outlives the maintenance */
    struct config_current *current;
    void (*news)(void *arg); /* alerts should be evaluated again; called on the rules' thread */
    void *arg;
};

/* Recovers the state that an earlier process left, and starts the threads. */
enum status maintenance_start(const struct maintenance_options *options, struct maintenance **out,
                              struct err *err);
struct triage_rules *maintenance_rules(struct maintenance *maintenance);
void maintenance_reload(struct maintenance *maintenance); /* the configuration has changed */
/* Stops the threads. The rules can still be read. NULL-safe. */
void maintenance_stop(struct maintenance *maintenance);
void maintenance_free(struct maintenance *maintenance); /* NULL-safe */

#endif
