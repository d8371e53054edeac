#include "port/broker_kind.h"

#include "broker/nats/nats_peek.h"
#include "broker/nats/nats_sink.h"
#include "broker/nats/nats_source.h"
#include "broker/nats/nats_url.h"

const struct broker_kind nats_kind = {
    .name = "nats",
    .schemes = {"nats", "tls"},
    .library = "libnats",
#ifdef IMPOUND_NATS
    .source_check = nats_source_check,
    .source_new = nats_source_new,
    .peek_check = nats_url_check_peek,
    .peek_new = nats_peek_new,
    .sink_check = nats_sink_check,
    .sink_connect = nats_sink_connect,
    .sink_new = nats_sink_new,
#endif
    .place_parameters = {"stream"},
    .coordinates = {{.member = "subject", .attribute = SPANS_DESTINATION, .place = true},
                    {.member = "stream", .place = true},
                    {.member = "sequence", .number = true},
                    {.member = "consumer", .attribute = SPANS_GROUP}},
    .unique_by = "sequence",
    .kept_members = {"typed"},
};
