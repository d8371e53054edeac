/* Conventions that stand in the body, in the key, or in what the broker says. */
#include "convention_case.h"

#include "broker/registry.h"
#include "triage/adopt/formats/convention_trace.h"
#include "triage/adopt/formats/convention_without.h"

#define LIST(name) "{\"kind\":\"redis\",\"list\":\"" name "\"}"
#define JSON       .content_type = "application/json"

static const struct convention_case seeds[] = {
    {.source = LIST("q:dlq"),
     .body = B("{\"id\": \"o-1\", \"model\": \"m\", \"n\": 1.0, \"dlq_reason\": "
               "\"max_attempts:timeout\", \"dlq_at\": 1763215787.1239}"),
     .name = "dlq-list",
     .queue = "q:main",
     .origin = LIST("q:main"),
     .reason = "max_attempts:timeout",
     .category = "timeout",
     .last = "2025-11-15T14:09:47.123Z",
     .id = "o-1",
     .body_after = B("{\"id\": \"o-1\", \"model\": \"m\", \"n\": 1.0}"),
     JSON},
    {.source = LIST("q:dlq"),
     .body = B("{\"dlq_reason\":\"model_gone:{\\\"error\\\": \\\"gone\\\"}\",\"dlq_at\":1763215787,"
               "\"id\":\"o-2\"}"),
     .name = "dlq-list",
     .queue = "q:main",
     .origin = LIST("q:main"),
     .reason = "model_gone",
     .category = "model_gone",
     .message = "{\"error\": \"gone\"}",
     .last = "2025-11-15T14:09:47.000Z",
     .id = "o-2",
     .body_after = B("{\"id\":\"o-2\"}"),
     JSON},
    {.source = LIST("failed"),
     .body = B("{\"id\":\"o-3\",\"dlq_reason\":\"unknown:KeyError\",\"dlq_at\":1763215787}"),
     .name = "dlq-list",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "unknown",
     .category = "bug",
     .type = "KeyError",
     .last = "2025-11-15T14:09:47.000Z",
     .id = "o-3",
     .body_after = B("{\"id\":\"o-3\"}"),
     JSON},
    {.source = LIST("q:dlq"),
     .body = B("{\"id\":\"o-4\",\"dlq_reason\":\"max_attempts:upstream_5xx:502\",\"dlq_at\":1}"),
     .name = "dlq-list",
     .queue = "q:main",
     .origin = LIST("q:main"),
     .reason = "max_attempts:upstream_5xx",
     .category = "external",
     .message = "502",
     .last = "1970-01-01T00:00:01.000Z",
     .id = "o-4",
     .body_after = B("{\"id\":\"o-4\"}"),
     JSON},
    {.source = "{\"kind\":\"kafka\",\"topic\":\"dead\",\"partition\":0,\"offset\":7}",
     .body = B("{\"dlq_envelope\":{\"message_id\":\"msg-a1\",\"original_topic\":\"orders.placed\","
               "\"original_queue\":\"order-processing\",\"original_partition\":3,"
               "\"original_offset\":884201,\"failure_reason\":\"ValidationError: field 'quantity' "
               "must be > 0\",\"failure_category\":\"VALIDATION\",\"stack_trace\":\"x\","
               "\"retry_count\":3,\"first_failure_at\":\"2025-11-10T08:15:22Z\","
               "\"last_failure_at\":\"2025-11-10T08:17:44Z\",\"consumer_instance\":\"pod-7\","
               "\"consumer_version\":\"2.4.1\"},\"original_headers\":{\"correlation_id\":\"c-1\","
               "\"content_type\":\"application/json\"},\"original_body\":{\"quantity\": -1}}"),
     .name = "dlq-envelope",
     .queue = "order-processing",
     .origin = "{\"kind\":\"kafka\",\"topic\":\"orders.placed\",\"partition\":3,"
               "\"offset\":884201}",
     .reason = "validation",
     .category = "validation",
     .type = "ValidationError",
     .message = "field 'quantity' must be > 0",
     .trace = "x",
     .attempts = 4,
     .first = "2025-11-10T08:15:22.000Z",
     .last = "2025-11-10T08:17:44.000Z",
     .id = "msg-a1",
     .body_after = B("{\"quantity\": -1}"),
     .added = "content_type=application/json",
     .instance = "pod-7",
     JSON},
    {.source = LIST("orders-dlq"), /* not Kafka: it goes back to the queue, and the topic stays */
     .body = B("{\"dlq_envelope\":{\"message_id\":\"msg-a1b2c3d4\",\"original_topic\":"
               "\"orders.placed\",\"original_queue\":\"order-processing\","
               "\"original_partition\":3,\"original_offset\":884201,\"failure_reason\":"
               "\"ValidationError: field 'quantity' must be > 0\",\"retry_count\":3},"
               "\"original_body\":{\"order_id\":\"ORD-12345\"}}"),
     .name = "dlq-envelope",
     .queue = "order-processing",
     .origin = "{\"kind\":\"redis\",\"list\":\"order-processing\",\"topic\":\"orders.placed\","
               "\"partition\":3,\"offset\":884201}",
     .reason = "validation",
     .category = "validation",
     .type = "ValidationError",
     .message = "field 'quantity' must be > 0",
     .attempts = 4,
     .id = "msg-a1b2c3d4",
     .body_after = B("{\"order_id\":\"ORD-12345\"}"),
     JSON},
    {.source = LIST("orders-dlq"), /* a topic alone is the place */
     .body = B("{\"dlq_envelope\":{\"original_topic\":\"orders.placed\"},\"original_body\":1}"),
     .name = "dlq-envelope",
     .queue = "orders.placed",
     .origin = LIST("orders.placed"),
     .reason = "unknown",
     .category = "unknown",
     .body_after = B("1"),
     JSON},
    {.source = LIST("orders-dlq"),
     .body = B("{\"original_message\":{\"body\":\"plain \\\"text\\\"\",\"headers\":{\"a\":\"b\"}},"
               "\"dlq_metadata\":{\"original_queue\":\"orders\",\"failure_reason\":\"boom: bang\","
               "\"failure_timestamp\":\"2024-01-15T10:30:00Z\",\"retry_count\":3,"
               "\"stack_trace\":\"y\"}}"),
     .name = "dlq-metadata",
     .queue = "orders",
     .origin = LIST("orders"),
     .reason = "boom",
     .category = "unknown",
     .type = "boom",
     .message = "bang",
     .trace = "y",
     .attempts = 4,
     .last = "2024-01-15T10:30:00.000Z",
     .body_after = B("plain \"text\""),
     .added = "a=b",
     .content_type = "text/plain; charset=utf-8"},
    {.source = LIST("agent_dlq"),
     .body = B("{\"id\":\"e-1\",\"task_id\":\"t-1\",\"task_type\":\"summarise\",\"payload\":{\"n\":"
               "12345678901234567890},\"error_message\":\"no answer\",\"error_type\":"
               "\"TimeoutError\",\"stack_trace\":null,\"attempt_count\":3,\"max_retries\":3,"
               "\"status\":\"pending_review\",\"created_at\":\"2026-03-17T00:00:00.5Z\","
               "\"context\":{\"agent_type\":\"A\"}}"),
     .name = "dlq-task",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "TimeoutError",
     .message = "no answer",
     .attempts = 3,
     .max_attempts = 3,
     .first = "2026-03-17T00:00:00.500Z",
     .last = "2026-03-17T00:00:00.500Z",
     .id = "t-1",
     .task = "t-1/summarise",
     .body_after = B("{\"n\":12345678901234567890}"),
     .beside = ",\"status\":\"pending_review\",\"entry\":\"e-1\","
               "\"task_context\":\"{\\\"agent_type\\\":\\\"A\\\"}\"",
     JSON},
    {.source = LIST("agent_dlq"), /* without a zone; and a time that is none */
     .body = B("{\"task_id\":\"t-2\",\"task_type\":\"summarise\",\"payload\":{},"
               "\"error_type\":\"TimeoutError\",\"attempt_count\":3,"
               "\"created_at\":\"2026-03-17T00:00:00.123456\","
               "\"last_attempted_at\":\"2026-03-17T00\"}"),
     .name = "dlq-task",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "TimeoutError",
     .attempts = 3,
     .first = "2026-03-17T00:00:00.123Z",
     .last = "2026-03-17T00:00:00.123Z",
     .id = "t-2",
     .task = "t-2/summarise",
     .body_after = B("{}"),
     JSON},
    {.source = LIST("agent_dlq"),
     .body = B(
         "{\"task_id\":\"t-3\",\"task_type\":\"summarise\",\"payload\":{},"
         "\"error_type\":\"TimeoutError\",\"attempt_count\":1,\"status\":\"resolved\","
         "\"last_attempted_at\":\"2026-03-17T00:00:00\",\"resolved_at\":\"2026-03-18T00:00:00Z\"}"),
     .name = "dlq-task",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "TimeoutError",
     .attempts = 1,
     .last = "2026-03-17T00:00:00.000Z",
     .id = "t-3",
     .task = "t-3/summarise",
     .body_after = B("{}"),
     .beside = ",\"status\":\"resolved\"",
     .state = STATE_RESOLVED,
     .resolved = "2026-03-18T00:00:00.000Z",
     JSON},
    {.source = LIST("agent_dlq"),
     .body = B("{\"task_id\":\"t-4\",\"task_type\":\"summarise\",\"payload\":{},"
               "\"error_type\":\"TimeoutError\",\"attempt_count\":1,\"status\":\"discarded\","
               "\"last_attempted_at\":\"2026-03-17T00:00:00\"}"),
     .name = "dlq-task",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "TimeoutError",
     .attempts = 1,
     .last = "2026-03-17T00:00:00.000Z",
     .id = "t-4",
     .task = "t-4/summarise",
     .body_after = B("{}"),
     .beside = ",\"status\":\"discarded\"",
     .state = STATE_DISCARDED,
     .resolved = "2026-03-17T00:00:00.000Z",
     JSON},
    {.source = LIST("agent_dlq"),
     .body = B("{\"task_id\":\"t-5\",\"task_type\":\"summarise\",\"payload\":{},"
               "\"error_type\":\"TimeoutError\",\"attempt_count\":1,\"status\":\"pending_retry\","
               "\"last_attempted_at\":\"2026-03-17T00:00:00\"}"),
     .name = "dlq-task",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "TimeoutError",
     .attempts = 1,
     .last = "2026-03-17T00:00:00.000Z",
     .id = "t-5",
     .task = "t-5/summarise",
     .body_after = B("{}"),
     .beside = ",\"status\":\"pending_retry\"",
     .retry_at = "2026-03-17T00:00:00.000Z",
     .why = "its system had set it for a retry",
     JSON},
    {.source = LIST("dlq"),
     .body = B("{\"id\":\"o-1\",\"payload\":{\"pin\":\"BAD\"},\"attempts\":2,\"history\":["
               "{\"attempt\":1,\"err\":\"TimeoutError\",\"msg\":\"503\",\"class\":\"transient\"},"
               "{\"attempt\":2,\"err\":\"KeyError\",\"msg\":\"pin\",\"class\":\"terminal\"}]}"),
     .name = "dlq-history",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "key_error",
     .category = "bug",
     .type = "KeyError",
     .message = "pin",
     .attempts = 2,
     .id = "o-1",
     .body_after = B("{\"pin\":\"BAD\"}"),
     .history = "1 retry timeout TimeoutError 503\n2 dlq bug KeyError pin\n",
     JSON},
    {.source = LIST("dlq"), /* lines without numbers, and what is no line */
     .body = B("{\"id\":\"o-1\",\"payload\":1,\"attempts\":2,\"history\":[{\"err\":\"KeyError\"},7,"
               "{\"attempt\":-3,\"err\":\"Odd\",\"msg\":5,\"class\":\"transient\"}]}"),
     .name = "dlq-history",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "odd",
     .category = "unknown",
     .type = "Odd",
     .attempts = 2,
     .id = "o-1",
     .body_after = B("1"),
     .history = "1 dlq bug KeyError \n2 retry unknown Odd \n",
     JSON},
    {.source = LIST("q:dlq"), /* JSON that is no object, or an object that is no letter */
     .body = B("[1]"),
     .name = "plain",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "unknown",
     .category = "unknown"},
};

static void teams_write_json_by_hand(void **state) {
    (void)state;
    convention_case_check(seeds, sizeof seeds / sizeof *seeds);
}

/* The list ["app/jobs/hard_job.rb:7:in `perform'","lib/sidekiq/processor.rb:202:in `execute_job'"]
 * as Sidekiq packs it: deflated, in base64 as Ruby writes it, 60 characters a line. */
#define PACKED                                                                                     \
    "eJyLVkosKNDPyk8q1s9ILEqJB7L0ipKszK0y8xQSClKL0vKLctWVdJRyMpP0\\n"                              \
    "izNTUrMzC/ULivKTU4uL84tAKo0MjMBqUytSk0tLUkEGqCvFAgBDcx6N\\n"
#define LINES "app/jobs/hard_job.rb:7:in `perform'\nlib/sidekiq/processor.rb:202:in `execute_job'"

static const struct convention_case jobs[] = {
    {.source = "{\"kind\":\"redis\",\"zset\":\"dead\"}",
     .body =
         B("{\"retry\":true,\"queue\":\"default\",\"class\":\"HardJob\",\"args\":[1, 2.0],"
           "\"jid\":\"b4a577edbccf1d805744efa9\",\"created_at\":1763215780.5,\"error_message\":"
           "\"wrong number\",\"error_class\":\"ArgumentError\",\"failed_at\":1763215787.123,"
           "\"retry_count\":25,\"retried_at\":1763225787.25,\"error_backtrace\":\"" PACKED "\"}"),
     .name = "sidekiq",
     .queue = "default",
     .origin = LIST("queue:default"),
     .reason = "argument_error",
     .category = "bug",
     .type = "ArgumentError",
     .message = "wrong number",
     .trace = LINES,
     .attempts = 26,
     .max_attempts = 26,
     .created = "2025-11-15T14:09:40.500Z",
     .first = "2025-11-15T14:09:47.123Z",
     .last = "2025-11-15T16:56:27.250Z",
     .id = "b4a577edbccf1d805744efa9",
     .task = "b4a577edbccf1d805744efa9/HardJob",
     .body_after =
         B("{\"retry\":true,\"queue\":\"default\",\"class\":\"HardJob\",\"args\":[1, 2.0],"
           "\"jid\":\"b4a577edbccf1d805744efa9\",\"created_at\":1763215780.5}"),
     JSON},
    {.source = "{\"kind\":\"redis\",\"zset\":\"dead\"}", /* version 8: milliseconds, lines as they
                                                            are; a job of ActiveJob's */
     .delivery = "1763229387.25",                        /* when it died */
     .body =
         B("{\"class\":\"Wrapper\",\"wrapped\":\"MailJob\",\"jid\":\"j\",\"args\":[],\"retry\":3,"
           "\"error_class\":\"Net::ReadTimeout\",\"failed_at\":1763215787123,\"retry_count\":3,"
           "\"error_backtrace\":[\"a.rb:1\",\"b.rb:2\"]}"),
     .name = "sidekiq",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "Net::ReadTimeout",
     .trace = "a.rb:1\nb.rb:2",
     .attempts = 4,
     .max_attempts = 4,
     .first = "2025-11-15T14:09:47.123Z",
     .last = "2025-11-15T14:09:47.123Z",
     .id = "j",
     .task = "j/MailJob",
     .body_after = B("{\"class\":\"Wrapper\",\"wrapped\":\"MailJob\",\"jid\":\"j\",\"args\":[],"
                     "\"retry\":3}"),
     JSON},
    {.source = "{\"kind\":\"redis\",\"zset\":\"app:retry\"}", /* it waits for its next retry */
     .delivery = "1763229387.25",
     .body = B("{\"class\":\"MailJob\",\"jid\":\"j\",\"args\":[],\"retry\":3,\"error_class\":"
               "\"Net::ReadTimeout\",\"failed_at\":1763215787.123,\"retry_count\":1}"),
     .name = "sidekiq",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "timeout",
     .category = "timeout",
     .type = "Net::ReadTimeout",
     .attempts = 2,
     .max_attempts = 4,
     .first = "2025-11-15T14:09:47.123Z",
     .last = "2025-11-15T14:09:47.123Z",
     .retry_at = "2025-11-15T17:56:27.000Z",
     .id = "j",
     .task = "j/MailJob",
     .body_after = B("{\"class\":\"MailJob\",\"jid\":\"j\",\"args\":[],\"retry\":3}"),
     JSON},
    {.source = "{\"kind\":\"redis\",\"asynq\":\"critical\"}",
     .body = B("\x0a\x0a"
               "email:send\x12\x09{\"to\": 7}\x1a\x04"
               "0b1c\"\x08"
               "critical(\x19"
               "0\x19:\"dial tcp: connection reset by peer@\x88\x0eX\xab\x93\xe2\xc8\x06r\x02g1z"
               "\x0c\x0a\x05trace\x12\x03t-1"),
     .name = "asynq",
     .queue = "critical",
     /* what it is without payload, retried, error_msg and last_failed_at */
     .origin = "{\"kind\":\"redis\",\"asynq\":\"critical\",\"id\":\"0b1c\",\"task\":"
               "\"CgplbWFpbDpzZW5kGgQwYjFjIghjcml0aWNhbCgZQIgOcgJnMXoMCgV0cmFj"
               "ZRIDdC0x\"}",
     .reason = "connection_reset",
     .category = "transient",
     .message = "dial tcp: connection reset by peer",
     .attempts = 26,
     .max_attempts = 26,
     .last = "2025-11-15T14:09:47.000Z",
     .id = "0b1c",
     .task = "0b1c/email:send",
     .body_after = B("{\"to\": 7}"),
     .added = "trace=t-1",
     .beside = ",\"group\":\"g1\"",
     JSON},
    {.source = "{\"kind\":\"redis\",\"asynq\":\"critical\"}", /* not what asynq writes */
     .body = B("\x0a\xff"),
     .name = "plain",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"redis\"}",
     .reason = "unknown",
     .category = "unknown"},
};

static void jobs_die_in_sets(void **state) {
    (void)state;
    convention_case_check(jobs, sizeof jobs / sizeof *jobs);
}

#define DEAD_TOPIC                                                                                 \
    "{\"kind\":\"kafka\",\"topic\":\"orders__pricing__dlq\",\"partition\":0,\"offset\":7}"

static const struct convention_case uforwarder[] = {
    {.source = DEAD_TOPIC,
     .key = B("\x08\x03\x12\x06orders\x18\x11 \xe9\xfb"
              "5(\xc0\x85\xcf\xee\xa9\xed\x8c\xbc\x18"
              "2\x03k\xff"
              "18\x02"),
     .name = "uforwarder",
     .queue = "orders",
     .origin = "{\"kind\":\"kafka\",\"topic\":\"orders\",\"partition\":17,\"offset\":884201}",
     .reason = "timeout",
     .category = "timeout",
     .attempts = 4,
     .created = "2025-11-15T14:09:47.123Z",
     .key_after = B("k\xff"
                    "1")},
    {.source = DEAD_TOPIC, /* a field that uForwarder does not have: a key of its own */
     .key = B("\x12\x06orders\x48\x01"),
     .name = "plain",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"kafka\"}",
     .reason = "unknown",
     .category = "unknown"},
    {.source = DEAD_TOPIC,
     .key = B("order-17"),
     .name = "plain",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"kafka\"}",
     .reason = "unknown",
     .category = "unknown"},
};

static void uforwarder_s_key_has_the_original_s_inside(void **state) {
    (void)state;
    convention_case_check(uforwarder, sizeof uforwarder / sizeof *uforwarder);
}

static void uforwarder_s_letter_may_have_had_no_key(void **state) {
    (void)state;
    struct message *held = message_new();
    held->envelope.source = BYTES(DEAD_TOPIC);
    held->envelope.key = BYTES("\x12\x06orders");
    convention_read(convention_find(held), registry_kinds, BYTES(CASE_ENTRY), (struct wall){1},
                    held);
    assert_null(held->envelope.key.ptr);
    message_free(held);
}

#define DEAD_QUEUE(deaths)                                                                         \
    "{\"kind\":\"rabbitmq\",\"vhost\":\"/\",\"queue\":\"orders.dlq\",\"exchange\":\"dlx\","        \
    "\"routing_key\":\"orders\",\"redelivered\":false,\"deaths\":[" deaths "],"                    \
    "\"properties\":\"AAA=\"}"
#define DEATH(count, queue, reason, time)                                                          \
    "{\"count\":" count ",\"exchange\":\"shop\",\"queue\":\"" queue "\",\"reason\":\"" reason      \
    "\",\"routing-keys\":[\"orders.new\",\"cc\"],\"time\":\"" time "\"}"
#define DELAYED(queue)                                                                             \
    "{\"count\":1,\"exchange\":\"\",\"original-expiration\":\"60000\",\"queue\":\"" queue          \
    "\",\"reason\":\"expired\",\"routing-keys\":[\"" queue                                         \
    "\"],\"time\":\"2026-11-15T10:00:00.000Z\"}"
#define ALIVE                                                                                      \
    "{\"kind\":\"rabbitmq\",\"queue\":\"orders\",\"exchange\":\"shop\",\"routing_key\":"           \
    "\"orders.new\",\"vhost\":\"/\",\"properties\":\"AAA=\"}"
#define RABBIT_DEAD(why, class, times, clock)                                                      \
    {                                                                                              \
        .source = DEAD_QUEUE(DEATH(#times, "orders", why, clock)), .name = "rabbitmq",             \
        .queue = "orders", .origin = ALIVE, .reason = why, .category = class,                      \
        .message = why " in queue orders", .attempts = times, .last = clock,                       \
        .beside = ",\"died_in\":\"orders\""                                                        \
    }

static const struct convention_case rabbit[] = {
    RABBIT_DEAD("rejected", "unknown", 1, "2026-11-15T10:00:00.000Z"),
    RABBIT_DEAD("expired", "timeout", 1, "2026-11-15T10:00:00.000Z"),
    RABBIT_DEAD("maxlen", "transient", 1, "2026-11-15T10:00:00.000Z"),
    RABBIT_DEAD("delivery_limit", "crash", 1, "2026-11-15T10:00:00.000Z"),
    {.source = DEAD_QUEUE(DEATH("3", "orders", "rejected", "2026-11-15T10:00:00.000Z") "," DEATH(
         "1", "orders", "expired",
         "2026-11-15T09:00:00.000Z") "," DEATH("2", "orders.wait", "expired",
                                               "2026-11-15T10:00:30.000Z")),
     .headers = {{B("x-first-death-queue"), B("orders")},
                 {B("x-first-death-reason"), B("expired")}},
     .name = "rabbitmq", /* round by way of a queue where it waited */
     .queue = "orders",
     .origin = ALIVE,
     .reason = "rejected",
     .category = "unknown",
     .message = "rejected in queue orders",
     .attempts = 4,
     .first = "2026-11-15T09:00:00.000Z",
     .last = "2026-11-15T10:00:30.000Z",
     .beside = ",\"died_in\":\"orders\""},
    {.source =
         DEAD_QUEUE(DEATH("1", "orders.wait", "expired", "2026-11-15T10:00:30.000Z") "," DEATH(
             "1", "orders", "rejected", "2026-11-15T10:00:00.000Z")),
     .name = "rabbitmq", /* an old server that does not say where it died first: the last one */
     .queue = "orders",
     .origin = ALIVE,
     .reason = "expired",
     .category = "timeout",
     .message = "expired in queue orders.wait",
     .attempts = 1,
     .first = "2026-11-15T10:00:00.000Z",
     .last = "2026-11-15T10:00:30.000Z",
     .beside = ",\"died_in\":\"orders.wait\""},
    {.source = DEAD_QUEUE(
         DEATH("1", "orders", "rejected", "2026-11-15T10:00:30.000Z") "," DELAYED("orders.wait")),
     .headers = {{B("x-first-death-queue"), B("orders.wait")}},
     .name = "rabbitmq", /* a delay queue first, then a consumer that rejected it */
     .queue = "orders",
     .origin = ALIVE,
     .reason = "rejected",
     .category = "unknown",
     .message = "rejected in queue orders",
     .attempts = 1,
     .first = "2026-11-15T10:00:00.000Z",
     .last = "2026-11-15T10:00:30.000Z",
     .beside = ",\"died_in\":\"orders\""},
    {.source = DEAD_QUEUE(DELAYED("orders.dead.wait") "," DEATH(
         "2", "orders", "delivery_limit", "2026-11-15T10:00:30.000Z") "," DEATH("1", "shop",
                                                                                "rejected",
                                                                                "2026-11-15T10:00:"
                                                                                "00.000Z")),
     .headers = {{B("x-first-death-queue"), B("shop")}},
     .name = "rabbitmq", /* two consumers failed: the last of them */
     .queue = "orders",
     .origin = ALIVE,
     .reason = "expired",
     .category = "timeout",
     .message = "expired in queue orders.dead.wait",
     .attempts = 2,
     .first = "2026-11-15T10:00:00.000Z",
     .last = "2026-11-15T10:00:30.000Z",
     .beside = ",\"died_in\":\"orders.dead.wait\""},
    {.source = DEAD_QUEUE(
         DEATH("1", "orders", "expired", "2026-11-15T10:00:30.000Z") "," DELAYED("orders.wait")),
     .headers = {{B("x-first-death-queue"), B("orders.wait")}},
     .name = "rabbitmq", /* no consumer failed: not the delay queue, where it would stay */
     .queue = "orders",
     .origin = ALIVE,
     .reason = "expired",
     .category = "timeout",
     .message = "expired in queue orders",
     .attempts = 1,
     .first = "2026-11-15T10:00:00.000Z",
     .last = "2026-11-15T10:00:30.000Z",
     .beside = ",\"died_in\":\"orders\""},
    {.source = DEAD_QUEUE("17"), /* not what RabbitMQ writes */
     .name = "plain",
     .queue = CASE_ENTRY,
     .origin = "{\"kind\":\"rabbitmq\",\"vhost\":\"/\",\"properties\":\"AAA=\"}",
     .reason = "unknown",
     .category = "unknown"},
};

static void rabbitmq_s_deaths_name_the_queue_and_the_reason(void **state) {
    (void)state;
    convention_case_check(rabbit, sizeof rabbit / sizeof *rabbit);
}

#define ADVISORY(type, more)                                                                       \
    "{\"type\":\"io.nats.jetstream.advisory.v1." type                                              \
    "\",\"id\":\"a\",\"timestamp\":\"2026-11-15T10:00:00.123456789Z\",\"stream\":\"ORDERS\","      \
    "\"consumer\":\"pricing\",\"stream_seq\":17,\"deliveries\":5" more "}"
#define FOLLOWED(origin, advisory)                                                                 \
    "{\"kind\":\"nats\",\"stream\":\"ADVISORIES\",\"subject\":\"$JS\",\"sequence\":2,\"origin\":"  \
    "{\"kind\":\"nats\",\"stream\":\"ORDERS\"," origin "\"sequence\":17},\"advisory\":" advisory   \
    "}"

static const struct convention_case nats[] = {
    {.source = FOLLOWED("\"subject\":\"orders.new\",", ADVISORY("max_deliver", "")),
     .written = "2026-11-15T09:00:00.000Z",
     .name = "nats-advisory",
     .queue = "ORDERS",
     .origin = "{\"kind\":\"nats\",\"stream\":\"ORDERS\",\"subject\":\"orders.new\","
               "\"sequence\":17}",
     .reason = "max_deliveries",
     .category = "crash",
     .attempts = 5,
     .last = "2026-11-15T10:00:00.123Z",
     .beside = ",\"consumer\":\"pricing\""},
    {.source = FOLLOWED("\"gone\":true,", ADVISORY("terminated", ",\"reason\":\"bad order\"")),
     .name = "nats-advisory",
     .queue = "ORDERS",
     .origin = "{\"kind\":\"nats\",\"stream\":\"ORDERS\",\"gone\":true,\"sequence\":17}",
     .reason = "terminated",
     .category = "unknown",
     .message = "bad order",
     .attempts = 5,
     .last = "2026-11-15T10:00:00.123Z",
     .beside = ",\"consumer\":\"pricing\",\"gone\":\"true\"",
     .why = "the message was deleted before it could be read"},
    {.source = LIST("advisories"), /* one that nobody followed */
     .body = B(ADVISORY("max_deliver", "")),
     .name = "nats-advisory",
     .queue = "ORDERS",
     .origin = "{\"kind\":\"redis\"}",
     .reason = "max_deliveries",
     .category = "crash",
     .attempts = 5,
     .last = "2026-11-15T10:00:00.123Z",
     .beside = ",\"consumer\":\"pricing\",\"sequence\":\"17\""},
};

static void nats_points_at_what_it_gave_up(void **state) {
    (void)state;
    convention_case_check(nats, sizeof nats / sizeof *nats);
}

/* ---- the parts ---- */

static void members_go_and_every_other_byte_stays(void **state) {
    (void)state;
    static const char *const names[] = {"x", "y", NULL};
    static const struct {
        const char *before, *after;
    } cases[] = {
        {"{\"a\": 1, \"x\": 2}", "{\"a\": 1}"},
        {"{ \"x\" : 2 , \"a\" : 1 }", "{ \"a\" : 1 }"},
        {"{\"x\":1,\"y\":{\"x\":2}}", "{}"},
        {"{\n  \"x\": 1,\n  \"a\": {\"x\": 3},\n  \"y\": 2,\n  \"b\": 4\n}",
         "{\n  \"a\": {\"x\": 3},\n  \"b\": 4\n}"},
        {"{\"a\":1,\"x\":2,\"a\":3,\"x\":4}", "{\"a\":1,\"a\":3}"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"{}", "{}"},
        {"{\"\\u0078\":1,\"a\":2}", "{\"a\":2}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct json json;
        arena_init_heap(&arena, 256);
        assert_int_equal(json_parse(bytes_of(cases[i].before), &json, NULL), STATUS_OK);
        assert_bytes(convention_without(json, names, &arena), cases[i].after);
        arena_free(&arena);
    }
}

static void a_backtrace_is_lines_or_packed_lines(void **state) {
    (void)state;
    static const struct {
        const char *json, *lines;
    } cases[] = {
        {"[\"a\",\"b\"]", "a\nb"},
        {"[]", ""},
        {"[1,\"b\"]", "b"},
        {"\"" PACKED "\"", LINES},
        {"\"no base64\"", "no base64"},
        {"\"AAAA\"", "AAAA"},
        {"17", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena arena;
        struct json json;
        arena_init_heap(&arena, 256);
        assert_int_equal(json_parse(bytes_of(cases[i].json), &json, NULL), STATUS_OK);
        assert_bytes(convention_trace(json, &arena), cases[i].lines);
        arena_free(&arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(teams_write_json_by_hand),
        cmocka_unit_test(jobs_die_in_sets),
        cmocka_unit_test(uforwarder_s_key_has_the_original_s_inside),
        cmocka_unit_test(uforwarder_s_letter_may_have_had_no_key),
        cmocka_unit_test(rabbitmq_s_deaths_name_the_queue_and_the_reason),
        cmocka_unit_test(nats_points_at_what_it_gave_up),
        cmocka_unit_test(members_go_and_every_other_byte_stays),
        cmocka_unit_test(a_backtrace_is_lines_or_packed_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
