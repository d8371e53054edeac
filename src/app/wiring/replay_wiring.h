/* replay_wiring: replays wired to the engine's queues and to the configuration of DLQs. */
#ifndef APP_REPLAY_WIRING_H
#define APP_REPLAY_WIRING_H

#include "app/wiring/config_current.h"
#include "triage/replay/replays.h"

struct replay_wiring;

struct replay_wiring_options {
    struct triage *triage;
    struct engine *engine;
    struct config_current *current; /* freshness checks are those of the start */
    struct handler *(*make_handler)(void *arg, const struct config_handler *config);
    void (*publish)(void *arg, const struct engine_event *event);
    void *arg;
};

/* Recovers unfinished replays; to be called before the engine's first turn. */
enum status replay_wiring_new(const struct replay_wiring_options *options,
                              struct replay_wiring **out, struct err *err);
void replay_wiring_run(struct replay_wiring *wiring); /* starts its thread */
struct replays *replay_wiring_replays(struct replay_wiring *wiring);
/* Stops sending. Events of the engine may still arrive. */
void replay_wiring_stop(struct replay_wiring *wiring);
void replay_wiring_free(struct replay_wiring *wiring); /* NULL-safe */

#endif
