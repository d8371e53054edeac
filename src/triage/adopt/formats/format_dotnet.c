/* format_dotnet: dead letters of .NET frameworks: the original message with headers added. */
#include "triage/adopt/formats/convention_facts.h"

/* ---- NServiceBus; ServiceControl, which sends such letters again ---- */

static const struct convention_field nservicebus_fields[] = {
    FIELD("NServiceBus.FailedQ", FACT_PLACE, AS_LOCAL),
    OWN("NServiceBus.MessageId", FACT_ID, AS_TEXT),
    FIELD("NServiceBus.ExceptionInfo.InnerExceptionType", FACT_TYPE, AS_TEXT),
    FIELD("NServiceBus.ExceptionInfo.ExceptionType", FACT_TYPE, AS_TEXT),
    FIELD("NServiceBus.ExceptionInfo.Message", FACT_MESSAGE, AS_TEXT),
    FIELD("NServiceBus.ExceptionInfo.StackTrace", FACT_TRACE, AS_TEXT),
    FIELD("NServiceBus.Retries", FACT_RETRIES, AS_DECIMAL),
    FIELD("NServiceBus.TimeOfFailure", FACT_LAST_FAILURE_AT, AS_NET_TIME),
    OWN("NServiceBus.TimeSent", FACT_CREATED_AT, AS_NET_TIME),
    FIELD("NServiceBus.ProcessingMachine", FACT_INSTANCE, AS_TEXT),
    OWN_BESIDE("NServiceBus.EnclosedMessageTypes", "message_type"),
    BESIDE("NServiceBus.ProcessingEndpoint", "endpoint"),
    BESIDE("NServiceBus.ExceptionInfo.ExceptionType", "exception"),
    BESIDE("NServiceBus.ExceptionInfo.Source", "exception_source"),
    BESIDE("ServiceControl.Retry.UniqueMessageId", "service_control_id"),
    BESIDE("ServiceControl.TargetEndpointAddress", "service_control_target"),
    BESIDE("ServiceControl.EditOf", "service_control_edit_of"),
};

/* ---- MassTransit ---- */

static const struct convention_field masstransit_fields[] = {
    FIELD("MT-Fault-InputAddress", FACT_PLACE, AS_SEGMENT),
    FIELD("MT-Fault-ExceptionType", FACT_TYPE, AS_TEXT),
    FIELD("MT-Fault-Message", FACT_MESSAGE, AS_TEXT),
    FIELD("MT-Fault-StackTrace", FACT_TRACE, AS_TEXT),
    FIELD("MT-Fault-RetryCount", FACT_RETRIES, AS_DECIMAL),
    FIELD("MT-Fault-Timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD("MT-Host-MachineName", FACT_INSTANCE, AS_TEXT),
    FIELD("MT-Host-AssemblyVersion", FACT_VERSION, AS_TEXT),
    BESIDE("MT-Fault-MessageType", "message_type"),
    BESIDE("MT-Fault-ConsumerType", "consumer"),
    BESIDE("MT-Redelivery-Count", "redeliveries"),
};

/* The companion queues of a receiver's own: NAME_error for messages that failed, NAME_skipped for
 * messages that no consumer wanted. */
static const struct {
    const char *suffix, *reason;
} sidings[] = {{"_error", ""}, {"_skipped", "skipped"}};

static bool siding_of(const struct convention_facts *facts, struct bytes *name,
                      struct bytes *reason) {
    struct json queue;
    struct bytes text;
    if (!json_get(facts->letter->source, "queue", &queue) ||
        !json_string(queue, facts->arena, &text))
        return false;
    for (size_t i = 0; i < sizeof sidings / sizeof *sidings; i++) {
        struct bytes suffix = bytes_of(sidings[i].suffix);
        if (text.len <= suffix.len || !bytes_ends(text, suffix))
            continue;
        *name = bytes_cut(text, 0, text.len - suffix.len);
        *reason = bytes_of(sidings[i].reason);
        return true;
    }
    return false;
}

/* MT-Reason is `fault` where the exception headers have the details. */
static void read_masstransit(struct convention_facts *facts) {
    struct bytes name, reason = convention_facts_header(facts->letter->held, "MT-Reason", true);
    if (bytes_is(reason, "fault"))
        reason = BYTES_NONE;
    else if (bytes_is(reason, "dead-letter"))
        reason = BYTES("skipped");
    convention_facts_text(facts, FACT_REASON, reason);
    if (!siding_of(facts, &name, &reason))
        return;
    convention_facts_text(facts, FACT_PLACE, name);
    if (!facts->facts[FACT_TYPE].known)
        convention_facts_text(facts, FACT_REASON, reason);
}

/* ---- Wolverine ---- */

static const struct convention_field wolverine_fields[] = {
    FIELD("original-destination", FACT_PLACE, AS_SEGMENT),
    FIELD("original-partition", FACT_PARTITION, AS_DECIMAL),
    FIELD("original-offset", FACT_OFFSET, AS_DECIMAL),
    FIELD("exception-type", FACT_TYPE, AS_TEXT),
    FIELD("exception-message", FACT_MESSAGE, AS_TEXT),
    FIELD("exception-stack", FACT_TRACE, AS_TEXT),
    FIELD("failed-at", FACT_LAST_FAILURE_AT, AS_EPOCH),
    FIELD("attempts", FACT_ATTEMPTS, AS_DECIMAL),
    OWN_BESIDE("message-type", "message_type"),
};

/* ---- rows ---- */

static const struct convention rows[] = {
    {.name = "nservicebus",
     .prefixes = {"NServiceBus.FailedQ", "NServiceBus.ExceptionInfo."},
     CONVENTION_FIELDS(nservicebus_fields)},
    {.name = "masstransit",
     .prefixes = {"MT-Reason", "MT-Fault-"},
     CONVENTION_FIELDS(masstransit_fields),
     .read = read_masstransit},
    {.name = "wolverine",
     .members = {"exception-type", "failed-at"},
     CONVENTION_FIELDS(wolverine_fields)},
};

const struct convention_family format_dotnet = {rows, sizeof rows / sizeof *rows};
