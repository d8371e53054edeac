/* rig_sink: a sink that says what the test tells it to. */
#ifndef RIG_SINK_H
#define RIG_SINK_H

#include "rig.h"

enum { RIG_SINK_ITEMS_MAX = 64 };

struct rig_sink {
    struct sink sink;
    struct sink_item *items[RIG_SINK_ITEMS_MAX];
    size_t count;
};

void rig_sink_init(struct rig_sink *sink);
/* Its answer to the n-th item; then rests. */
void rig_sink_take(struct rig *rig, struct rig_sink *sink, size_t item, enum status status);

#endif
