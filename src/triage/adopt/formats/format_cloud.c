/* format_cloud: dead letters of SQS and Pub/Sub, which add attributes to the message that they
 * move. Both move messages after too many deliveries; SQS gives no reason. */
#include "triage/adopt/formats/convention_facts.h"

/* arn:aws:sqs:REGION:ACCOUNT:QUEUE */
static struct bytes behind_last_colon(struct bytes arn) {
    for (size_t i = arn.len; i > 0; i--)
        if (arn.ptr[i - 1] == ':')
            return bytes_cut(arn, i, arn.len);
    return arn;
}

static void read_sqs(struct convention_facts *facts) {
    struct bytes arn =
        convention_facts_header(facts->letter->held, "DeadLetterQueueSourceArn", false);
    convention_facts_text(facts, FACT_PLACE, behind_last_colon(arn));
    convention_facts_text(facts, FACT_REASON, BYTES("delivery_limit"));
}

static const struct convention_field sqs_fields[] = {
    FIELD("ApproximateReceiveCount", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD("SentTimestamp", FACT_CREATED_AT, AS_EPOCH),
    FIELD("ApproximateFirstReceiveTimestamp", FACT_FIRST_FAILURE_AT, AS_EPOCH),
};

static void read_pubsub(struct convention_facts *facts) {
    convention_facts_text(facts, FACT_REASON, BYTES("delivery_limit"));
}

static const struct convention_field pubsub_fields[] = {
    FIELD("CloudPubSubDeadLetterSourceSubscription", FACT_PLACE, AS_TEXT),
    FIELD("CloudPubSubDeadLetterSourceDeliveryCount", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD("CloudPubSubDeadLetterSourceTopicPublishTime", FACT_CREATED_AT, AS_RFC3339),
    BESIDE("CloudPubSubDeadLetterSourceSubscriptionProject", "project"),
};

static const struct convention rows[] = {
    {.name = "sqs",
     .members = {"DeadLetterQueueSourceArn"},
     CONVENTION_FIELDS(sqs_fields),
     .read = read_sqs},
    {.name = "pubsub",
     .prefixes = {"CloudPubSubDeadLetterSource"},
     CONVENTION_FIELDS(pubsub_fields),
     .read = read_pubsub},
};

const struct convention_family format_cloud = {rows, sizeof rows / sizeof *rows};
