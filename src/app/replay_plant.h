/* replay_plant: replays wired to the engine's queues and to what the configuration says of DLQs. */
#ifndef APP_REPLAY_PLANT_H
#define APP_REPLAY_PLANT_H

#include "app/config_current.h"
#include "triage/replays.h"

struct replay_plant;

struct replay_plant_options {
    struct triage *triage;
    struct engine *engine;
    struct config_current *current; /* its checks are those of the start */
    struct handler *(*make_handler)(void *arg, const struct config_handler *config);
    void (*publish)(void *arg, const struct engine_event *event);
    void *arg;
};

/* Takes up what an earlier life left; before the engine's first turn. */
enum status replay_plant_new(const struct replay_plant_options *options, struct replay_plant **out,
                             struct err *err);
void replay_plant_run(struct replay_plant *plant); /* starts its thread */
struct replays *replay_plant_replays(struct replay_plant *plant);
/* Nothing more is sent. The engine's events may still come. */
void replay_plant_stop(struct replay_plant *plant);
void replay_plant_free(struct replay_plant *plant); /* NULL-safe */

#endif
