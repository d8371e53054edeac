/* scrub_headers: the list of diagnostic headers (scrub_headers). */
#include "triage/replay/scrub_headers.h"

#include "triage/adopt/formats/convention.h"

/* Prefixes of header names, case-insensitive, by system. */
static const char *const prefixes[] = {
    /* Kafka: Connect, Streams, share groups */
    "__connect.errors.",
    "__streams.errors.",
    "__dlq.errors.",
    /* Spring Kafka */
    "kafka_dlt-",
    "kafka_exception-",
    "kafka_original-",
    "retry_topic-",
    "kafka_deliveryAttempt",
    /* SmallRye, Watermill */
    "dead-letter-reason",
    "dead-letter-cause",
    "dead-letter-exception-class-name",
    "dead-letter-topic",
    "dead-letter-partition",
    "dead-letter-offset",
    "reason_poisoned",
    "topic_poisoned",
    "handler_poisoned",
    "subscriber_poisoned",
    /* RabbitMQ */
    "x-death",
    "x-first-death-",
    "x-last-death-",
    "x-opt-deaths",
    "x-delivery-count",
    "x-acquired-count",
    /* SQS, Pub/Sub */
    "DeadLetterQueueSourceArn",
    "CloudPubSubDeadLetterSource",
    "googclient_deliveryattempt",
    /* NATS */
    "Nats-Expected-",
    "Nats-Schedule",
    "Nats-Batch-",
    /* NServiceBus, ServiceControl */
    "NServiceBus.Retries",
    "NServiceBus.FailedQ",
    "NServiceBus.TimeOfFailure",
    "NServiceBus.ExceptionInfo.",
    "ServiceControl.",
    /* MassTransit */
    "MT-Reason",
    "MT-Fault-",
    "MT-Host-",
    "MT-Redelivery-Count",
    /* Wolverine */
    "exception-type",
    "exception-message",
    "exception-stack",
    "failed-at",
    "original-destination",
    "original-partition",
    "original-offset",
    /* Redpanda Connect */
    "fallback_error",
    /* impound's own mirror, and hand-written formats that look like it */
    "dlq-original-",
    "dlq-error-",
    "dlq-attempts",
    "dlq-failed-at",
    "dlq-cause",
    "dlq-category",
    "dlq-reason",
    "dlq-letter-id",
    "dlq-message-id",
};

bool scrub_is_diagnostic(struct bytes header) {
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        struct bytes prefix = bytes_of(prefixes[i]);
        if (bytes_eq_nocase(bytes_cut(header, 0, prefix.len), prefix))
            return true;
    }
    return false;
}

static bool is_removed(struct bytes header, const struct convention *convention) {
    return scrub_is_diagnostic(header) || (convention && convention_adds(convention, header));
}

size_t scrub_headers(const struct envelope *envelope, struct arena *arena,
                     const struct rule_header **out) {
    const struct convention *convention = convention_of(envelope->context);
    size_t kept = 0;
    for (size_t i = 0; i < envelope->header_count; i++)
        kept += !is_removed(envelope->headers[i].name, convention);
    *out = envelope->headers;
    if (kept == envelope->header_count)
        return kept;
    struct rule_header *left = arena_alloc(arena, (kept + 1) * sizeof *left);
    kept = 0;
    for (size_t i = 0; i < envelope->header_count; i++)
        if (!is_removed(envelope->headers[i].name, convention))
            left[kept++] = envelope->headers[i];
    *out = left;
    return kept;
}
