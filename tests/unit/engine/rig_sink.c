#include "rig_sink.h"

static void publish(struct sink *sink, struct sink_item *item) {
    struct rig_sink *rig_sink = CONTAINER_OF(sink, struct rig_sink, sink);
    assert_true(rig_sink->count < RIG_SINK_ITEMS_MAX);
    rig_sink->items[rig_sink->count++] = item;
}

static const struct sink_vtable vtable = {.kind = "test", .publish = publish};

void rig_sink_init(struct rig_sink *sink) {
    *sink = (struct rig_sink){.sink = {&vtable}};
}

void rig_sink_take(struct rig *rig, struct rig_sink *sink, size_t item, enum status status) {
    struct err err = {status, "the sink was told to fail"};
    sink->items[item]->done(sink->items[item], status, status == STATUS_OK ? NULL : &err);
    rig_rest(rig);
}
