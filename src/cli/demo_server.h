/* demo_server: a server of the tour's own, in a temporary folder, for those who have none yet. */
#ifndef CLI_DEMO_SERVER_H
#define CLI_DEMO_SERVER_H

#include "base/status.h"

/* The queues of the tour, as they stand in a configuration. */
#define DEMO_SERVER_QUEUES                                                                         \
    "queues:\n"                                                                                    \
    "  demo-orders: {handler: lease}\n"                                                            \
    "  demo-ai: {handler: lease, classify: {presets: [ai-api]}}\n"

struct demo_server;

/* Starts this very program as a server and waits until it listens. Call it before any thread
 * starts. */
enum status demo_server_start(struct demo_server **out, struct err *err);
const char *demo_server_url(const struct demo_server *server);
/* Stops it gracefully and removes its folder. NULL: nothing. */
void demo_server_stop(struct demo_server *server);

#endif
