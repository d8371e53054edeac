/* rabbit_haul: a queue of RabbitMQ, taken in waves (port/haul.h). A wave's consumer is cancelled
 * before anything of it is acknowledged, so that nothing else is on its way to us then. */
#ifndef BROKER_RABBIT_HAUL_H
#define BROKER_RABBIT_HAUL_H

#include "port/haul.h"

enum {
    RABBIT_HAUL_WAIT_MS = 1000, /* for a message that is there: others may have taken it */
    RABBIT_HAUL_MAX = 256,      /* messages of a wave */
};

struct haul *rabbit_haul_new(const struct broker_options *options);

#endif
