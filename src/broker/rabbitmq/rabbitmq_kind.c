#include "port/broker_kind.h"

#include "broker/rabbitmq/rabbit_peek.h"
#include "broker/rabbitmq/rabbit_sink.h"
#include "broker/rabbitmq/rabbit_source.h"

const struct broker_kind rabbitmq_kind = {
    .name = "rabbitmq",
    .schemes = {"amqp", "amqps"},
    .library = "librabbitmq",
#ifdef IMPOUND_RABBITMQ
    .source_check = rabbit_source_check,
    .source_new = rabbit_source_new,
    .peek_check = rabbit_source_check,
    .peek_new = rabbit_peek_new,
    .sink_check = rabbit_sink_check,
    .sink_connect = rabbit_sink_connect,
    .sink_new = rabbit_sink_new,
#endif
    .place_parameters = {"queue"},
    .path_default = "/",
    .coordinates = {{.member = "queue", .attribute = SPANS_DESTINATION, .place = true},
                    {.member = "exchange", .place = true},
                    {.member = "routing_key",
                     .attribute = "messaging.rabbitmq.destination.routing_key"}},
    .changing_headers = {"x-delivery-count", "x-acquired-count"},
    .kept_members = {"vhost", "properties"},
};
