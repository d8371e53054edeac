#include "port/broker_kind.h"

#include "broker/kafka/kafka_peek.h"
#include "broker/kafka/kafka_sink.h"
#include "broker/kafka/kafka_source.h"
#include "broker/kafka/kafka_url.h"

const struct broker_kind kafka_kind = {
    .name = "kafka",
    .schemes = {"kafka", "kafkas"},
    .library = "librdkafka",
#ifdef IMPOUND_KAFKA
    .source_check = kafka_source_check,
    .source_new = kafka_source_new,
    .peek_check = kafka_url_check_peek,
    .peek_new = kafka_peek_new,
    .sink_check = kafka_sink_check,
    .sink_connect = kafka_sink_connect,
    .sink_new = kafka_sink_new,
#endif
    .path_place = "topic",
    .group_parameter = "group",
    .coordinates = {{.member = "topic", .attribute = SPANS_DESTINATION, .place = true},
                    {.member = "partition", .attribute = "messaging.destination.partition.id"},
                    {.member = "offset", .attribute = "messaging.kafka.offset", .number = true}},
    .unique_by = "offset",
    .same_headers = true,
    .kept_members = {"tombstone", "null_headers"},
};
