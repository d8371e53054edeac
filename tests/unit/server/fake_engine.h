/* fake_engine: the engine's doors and triage's as far as the server knocks at them, for tests. It
 * judges nothing: a report is dead at once unless its verdict is retry; of leases "good" is one. */
#ifndef FAKE_ENGINE_H
#define FAKE_ENGINE_H

#include "engine/engine.h"

enum { FAKE_QUEUES_MAX = 4 };

struct engine {
    struct engine_queue_view queues[FAKE_QUEUES_MAX];
    size_t count;
    enum status refuse; /* what the next requests are answered with; OK: done */
};

#endif
