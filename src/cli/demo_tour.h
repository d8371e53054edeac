/* demo_tour: the tour itself, part by part: a sentence or two, then the command that shows it, run
 * as it is printed. */
#ifndef CLI_DEMO_TOUR_H
#define CLI_DEMO_TOUR_H

#include "cli/cli.h"
#include "cli/client.h"
#include "cli/demo_worker.h"

enum { DEMO_TOUR_RUN_SIZE = 8 };

struct demo_tour {
    const struct cli_env *env;
    struct client *client;
    struct demo_worker *worker;
    bool asks;                    /* waits for Enter before each part */
    char run[DEMO_TOUR_RUN_SIZE]; /* ends the ids of this run, which differ from every other's */
};

/* Each returns an exit code; trouble is told on stderr. */

/* Waits until what an earlier tour left in the queues is done, and discards its letters. */
int demo_tour_arrive(struct demo_tour *tour);
int demo_tour_play(struct demo_tour *tour);
/* Discards what the tour left in the DLQs, and says what remains. */
int demo_tour_leave(struct demo_tour *tour);

/* From now on SIGINT, SIGTERM, SIGHUP and SIGPIPE end the tour at its next step, so that it can
 * tidy up. */
void demo_tour_take_signals(void);
bool demo_tour_is_stopped(void);

#endif
