/* format_kafka: dead letters in Kafka, by record headers; these are texts unless a row says
 * otherwise. */
#include "triage/adopt/formats/convention_facts.h"

/* ---- Connect (KIP-298) ---- */

static const struct convention_field connect_fields[] = {
    FIELD("__connect.errors.topic", FACT_PLACE, AS_TEXT),
    FIELD("__connect.errors.partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("__connect.errors.offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("__connect.errors.exception.class.name", FACT_TYPE, AS_TEXT),
    FIELD("__connect.errors.exception.message", FACT_MESSAGE, AS_TEXT),
    FIELD("__connect.errors.exception.stacktrace", FACT_TRACE, AS_TEXT),
    BESIDE("__connect.errors.connector.name", "connector"),
    BESIDE("__connect.errors.task.id", "task"),
    BESIDE("__connect.errors.stage", "stage"),
    BESIDE("__connect.errors.class.name", "class"),
};

/* A record that a converter cannot read is invalid, whatever the exception's name. */
static void read_connect(struct convention_facts *facts) {
    struct bytes stage =
        convention_facts_header(facts->letter->held, "__connect.errors.stage", false);
    if (bytes_ends(stage, BYTES("_CONVERTER")))
        convention_facts_text(facts, FACT_CATEGORY, BYTES("validation"));
}

/* ---- Streams (KIP-1034) ---- */

static const struct convention_field streams_fields[] = {
    FIELD("__streams.errors.topic", FACT_PLACE, AS_TEXT),
    FIELD("__streams.errors.partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("__streams.errors.offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("__streams.errors.exception", FACT_TYPE, AS_TEXT),
    FIELD("__streams.errors.message", FACT_MESSAGE, AS_TEXT),
    FIELD("__streams.errors.stacktrace", FACT_TRACE, AS_TEXT),
};

/* ---- share groups (KIP-1191) ---- */

static const struct convention_field share_fields[] = {
    FIELD("__dlq.errors.topic", FACT_PLACE, AS_TEXT),
    FIELD("__dlq.errors.partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("__dlq.errors.offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("__dlq.errors.delivery.count", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD("__dlq.errors.message", FACT_MESSAGE, AS_TEXT),
    BESIDE("__dlq.errors.group", "group"),
};

/* The source has the time at which a followed pointer was written; its record is older. */
static void read_followed(struct convention_facts *facts) {
    struct json member;
    struct bytes text;
    struct wall at;
    if (json_get(facts->letter->source, "dead_at", &member) &&
        json_string(member, facts->arena, &text) && wall_parse(text, &at))
        convention_facts_time(facts, FACT_DEAD_AT, at.ms);
}

static void read_share(struct convention_facts *facts) {
    static const struct {
        const char *words, *reason;
    } reasons[] = {
        {"Offset rejected by client.", "rejected"},
        {"Offset delivery count exceeded the threshold.", "delivery_limit"},
    };
    struct bytes message = convention_facts_get(facts, FACT_MESSAGE);
    read_followed(facts);
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (bytes_is(message, reasons[i].words))
            convention_facts_text(facts, FACT_REASON, bytes_of(reasons[i].reason));
}

/* ---- Spring ---- */

/* Between retry topics the names lack "dlt-". The origin is appended at each failure, so that the
 * first header is the first origin, while the last exception header is of the last failure. The
 * exception is Spring's wrapper of the listener's exception, so the cause is preferred. */
static const struct convention_field spring_fields[] = {
    FIELD("kafka_original-topic", FACT_PLACE, AS_TEXT),
    FIELD("kafka_dlt-original-topic", FACT_PLACE, AS_TEXT),
    FIELD("kafka_original-partition", FACT_PARTITION, AS_BINARY),
    FIELD("kafka_dlt-original-partition", FACT_PARTITION, AS_BINARY),
    FIELD("kafka_original-offset", FACT_OFFSET, AS_BINARY),
    FIELD("kafka_dlt-original-offset", FACT_OFFSET, AS_BINARY),
    FIELD("retry_topic-original-timestamp", FACT_CREATED_AT, AS_BINARY_MS),
    FIELD("kafka_original-timestamp", FACT_CREATED_AT, AS_BINARY_MS),
    FIELD("kafka_dlt-original-timestamp", FACT_CREATED_AT, AS_BINARY_MS),
    LAST("kafka_dlt-exception-cause-fqcn", FACT_TYPE, AS_TEXT),
    LAST("kafka_exception-cause-fqcn", FACT_TYPE, AS_TEXT),
    LAST("kafka_dlt-exception-fqcn", FACT_TYPE, AS_TEXT),
    LAST("kafka_exception-fqcn", FACT_TYPE, AS_TEXT),
    LAST("kafka_dlt-key-exception-fqcn", FACT_TYPE, AS_TEXT),
    LAST("kafka_dlt-exception-message", FACT_MESSAGE, AS_TEXT),
    LAST("kafka_exception-message", FACT_MESSAGE, AS_TEXT),
    LAST("kafka_dlt-key-exception-message", FACT_MESSAGE, AS_TEXT),
    LAST("kafka_dlt-exception-stacktrace", FACT_TRACE, AS_TEXT),
    LAST("kafka_exception-stacktrace", FACT_TRACE, AS_TEXT),
    LAST("kafka_dlt-key-exception-stacktrace", FACT_TRACE, AS_TEXT),
    LAST("retry_topic-attempts", FACT_ATTEMPT_NEXT, AS_BINARY),
    LAST("kafka_deliveryAttempt", FACT_ATTEMPTS, AS_BINARY),
    LAST("retry_topic-backoff-timestamp", FACT_RETRY_AT, AS_BINARY_MS),
    BESIDE("kafka_dlt-original-consumer-group", "group"),
    BESIDE("kafka_dlt-original-timestamp-type", "timestamp_type"),
    LAST_BESIDE("kafka_dlt-exception-fqcn", "exception"),
};

/* `retry_topic-attempts` is the number of the next attempt: Spring increments it when it forwards a
 * record, also to the dead-letter topic, where no attempt follows. A record in a retry topic is
 * scheduled for its backoff timestamp; one in the dead-letter topic still has that header, but is
 * not scheduled. */
static void read_spring(struct convention_facts *facts) {
    const struct envelope *envelope = &facts->letter->held->envelope;
    if (facts->facts[FACT_ATTEMPT_NEXT].known) {
        int64_t next = facts->facts[FACT_ATTEMPT_NEXT].number;
        facts->facts[FACT_ATTEMPTS].known = false;
        convention_facts_number(facts, FACT_ATTEMPTS, next > 2 ? next - 1 : 1);
    }
    for (size_t i = 0; i < envelope->header_count; i++)
        if (bytes_starts(envelope->headers[i].name, BYTES("kafka_dlt-")))
            facts->facts[FACT_RETRY_AT].known = false;
}

/* ---- SmallRye (Quarkus), Watermill, Redpanda Connect ---- */

static const struct convention_field smallrye_fields[] = {
    FIELD("dead-letter-topic", FACT_PLACE, AS_TEXT),
    FIELD("dead-letter-partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("dead-letter-offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("dead-letter-cause-class-name", FACT_TYPE, AS_TEXT),
    FIELD("dead-letter-exception-class-name", FACT_TYPE, AS_TEXT),
    FIELD("dead-letter-cause", FACT_MESSAGE, AS_TEXT),
    FIELD("dead-letter-reason", FACT_MESSAGE, AS_TEXT),
    BESIDE("dead-letter-reason", "exception_message"),
};

static const struct convention_field watermill_fields[] = {
    FIELD("topic_poisoned", FACT_PLACE, AS_TEXT),
    FIELD("reason_poisoned", FACT_MESSAGE, AS_TEXT),
    BESIDE("handler_poisoned", "handler"),
    BESIDE("subscriber_poisoned", "subscriber"),
};

static const struct convention_field redpanda_fields[] = {
    FIELD("kafka_topic", FACT_PLACE, AS_TEXT),
    FIELD("kafka_partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("kafka_offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("fallback_error", FACT_MESSAGE, AS_TEXT),
    FIELD("retry_count", FACT_RETRIES, AS_DECIMAL),
    FIELD("kafka_timestamp_unix", FACT_CREATED_AT, AS_EPOCH),
};

/* ---- rows ---- */

/* A followed pointer: the message's own headers may describe another death. */
static bool was_followed(const struct convention_letter *letter) {
    struct json origin;
    return json_get(letter->source, "origin", &origin);
}

static const struct convention rows[] = {
    {.name = "share-group",
     .kind = "kafka",
     .prefixes = {"__dlq.errors."},
     .fits = was_followed,
     CONVENTION_FIELDS(share_fields),
     .read = read_share},
    {.name = "kafka-connect",
     .prefixes = {"__connect.errors."},
     CONVENTION_FIELDS(connect_fields),
     .read = read_connect},
    {.name = "kafka-streams", .prefixes = {"__streams.errors."}, CONVENTION_FIELDS(streams_fields)},
    {.name = "share-group",
     .prefixes = {"__dlq.errors."},
     CONVENTION_FIELDS(share_fields),
     .read = read_share},
    {.name = "spring-kafka",
     .prefixes = {"kafka_dlt-", "kafka_exception-", "kafka_original-", "retry_topic-"},
     CONVENTION_FIELDS(spring_fields),
     .read = read_spring},
    {.name = "smallrye", .members = {"dead-letter-reason"}, CONVENTION_FIELDS(smallrye_fields)},
    {.name = "watermill", .members = {"reason_poisoned"}, CONVENTION_FIELDS(watermill_fields)},
    {.name = "redpanda-connect", .members = {"fallback_error"}, CONVENTION_FIELDS(redpanda_fields)},
};

const struct convention_family format_kafka = {rows, sizeof rows / sizeof *rows};
