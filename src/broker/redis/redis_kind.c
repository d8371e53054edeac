#include "port/broker_kind.h"

#include "broker/redis/redis_peek.h"
#include "broker/redis/redis_sink.h"
#include "broker/redis/redis_source.h"
#include "broker/redis/redis_url.h"

const struct broker_kind redis_kind = {
    .name = "redis",
    .schemes = {"redis", "rediss"},
    .library = "hiredis",
#ifdef IMPOUND_REDIS
    .source_check = redis_source_check,
    .source_new = redis_source_new,
    .peek_check = redis_url_check_peek,
    .peek_new = redis_peek_new,
    .sink_check = redis_sink_check,
    .sink_connect = redis_sink_connect,
    .sink_new = redis_sink_new,
#endif
    .place_parameters = {"list", "stream", "zset", "asynq"},
    .path_default = "0",
    .coordinates = {{.member = "list", .attribute = SPANS_DESTINATION, .place = true},
                    {.member = "stream", .attribute = SPANS_DESTINATION, .place = true},
                    {.member = "asynq", .place = true},
                    {.member = "group", .attribute = SPANS_GROUP}},
    .unique_by = "entry", /* of a stream; an element of a list has no coordinates of its own */
    .unique_within = "stream",
    .same_headers = true,
};
