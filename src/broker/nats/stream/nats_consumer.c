#include "broker/nats/stream/nats_consumer.h"

enum { NS_PER_MS = 1000000, ACK_WAIT_MS = 30000 /* the server's own default */ };

static int64_t number_of(struct json object, const char *name, int64_t otherwise) {
    struct json member;
    int64_t number;
    bool given = json_get(object, name, &member) && json_i64(member, &number) && number >= 0;
    return given ? number : otherwise;
}

/* A backoff replaces ack_wait, with one delay for each delivery. */
static int64_t ack_wait_ms(struct json config) {
    struct json backoff;
    int64_t shortest = number_of(config, "ack_wait", (int64_t)ACK_WAIT_MS * NS_PER_MS), ns;
    if (json_get(config, "backoff", &backoff))
        for (struct json_walk walk = json_walk(backoff); json_step(&walk);)
            if (json_i64(walk.value, &ns) && ns < shortest)
                shortest = ns;
    return shortest / NS_PER_MS;
}

enum status nats_consumer_read(struct json info, struct nats_consumer *out, struct err *err) {
    struct json config, member;
    if (!json_get(info, "config", &config))
        return err_set(err, STATUS_INVALID, "the server's answer has no consumer configuration");
    if (json_get(config, "deliver_subject", &member) && !bytes_is(member.text, "\"\""))
        return err_set(err, STATUS_INVALID,
                       "the consumer is a push consumer; a pull consumer is needed");
    member.text = BYTES("not said");
    if (!json_get(config, "ack_policy", &member) || !bytes_is(member.text, "\"explicit\""))
        return err_set(
            err, STATUS_INVALID,
            "the consumer's ack_policy is %.*s; with any other than explicit, messages can be lost",
            BYTES_ARG(bytes_clip(member.text, 64)));
    *out = (struct nats_consumer){.pending = number_of(info, "num_pending", 0),
                                  .ack_pending = number_of(info, "num_ack_pending", 0),
                                  .ack_wait_ms = ack_wait_ms(config),
                                  .max_batch = number_of(config, "max_batch", 0),
                                  .max_expires_ns = number_of(config, "max_expires", 0)};
    return STATUS_OK;
}
