#include "broker/nats/stream/nats_advisory.h"

#include "broker/nats/nats_url.h"

bool nats_advisory_is(struct bytes subject) {
    static const struct bytes deaths[] = {{"MAX_DELIVERIES.", 15}, {"MSG_TERMINATED.", 15}};
    struct bytes all = BYTES("$JS.EVENT.ADVISORY.CONSUMER.");
    if (!bytes_starts(subject, all))
        return false;
    for (size_t i = 0; i < sizeof deaths / sizeof *deaths; i++)
        if (bytes_starts(bytes_cut(subject, all.len, subject.len), deaths[i]))
            return true;
    return false;
}

/* They become parts of a subject. */
static bool read_name(struct json advisory, const char *name, struct arena *arena,
                      struct bytes *out) {
    struct json member;
    return json_get(advisory, name, &member) && json_string(member, arena, out) &&
           nats_url_is_name(*out);
}

static bool read_number(struct json advisory, const char *name, uint64_t *out) {
    struct json member;
    return json_get(advisory, name, &member) && bytes_u64(member.text, out);
}

bool nats_advisory_read(struct json advisory, struct arena *arena, struct nats_advisory *out) {
    *out = (struct nats_advisory){.domain = BYTES("")};
    if (!read_name(advisory, "domain", arena, &out->domain))
        out->domain = BYTES("");
    if (!read_number(advisory, "deliveries", &out->coordinates.delivered))
        out->coordinates.delivered = 0;
    return read_name(advisory, "stream", arena, &out->coordinates.stream) &&
           read_name(advisory, "consumer", arena, &out->coordinates.consumer) &&
           read_number(advisory, "stream_seq", &out->coordinates.sequence) &&
           out->coordinates.sequence > 0;
}
