/* format_nats: JetStream advisories, which point to a message that a consumer gave up. The
 * broker adapter follows them and adds the original's coordinates to the source as "origin" and the
 * advisory's content as "advisory". An advisory that was not followed is a letter with the advisory
 * as its body. */
#include "triage/adopt/formats/convention_facts.h"

static const struct convention_field followed_fields[] = {
    FIELD(".origin.stream", FACT_QUEUE, AS_TEXT),
    FIELD(".advisory.deliveries", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD(".advisory.timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD(".advisory.reason", FACT_MESSAGE, AS_TEXT),
    BESIDE(".advisory.consumer", "consumer"),
    BESIDE(".advisory.domain", "domain"),
    BESIDE(".origin.gone", "gone"),
    FIELD(".advisory.type", FACT_REASON, AS_TEXT),
};

static const struct convention_field pointer_fields[] = {
    FIELD(".stream", FACT_QUEUE, AS_TEXT),
    FIELD(".deliveries", FACT_ATTEMPTS, AS_DECIMAL),
    FIELD(".timestamp", FACT_LAST_FAILURE_AT, AS_RFC3339),
    FIELD(".reason", FACT_MESSAGE, AS_TEXT),
    BESIDE(".consumer", "consumer"),
    BESIDE(".stream_seq", "sequence"),
    FIELD(".type", FACT_REASON, AS_TEXT),
};

static const struct bytes type_prefix = {"io.nats.jetstream.advisory.v1.", 30};

/* The type without its prefix is the reason; one word differs from ours. */
static void read_type(struct convention_facts *facts) {
    struct bytes type = convention_facts_get(facts, FACT_REASON);
    if (bytes_starts(type, type_prefix))
        type = bytes_cut(type, type_prefix.len, type.len);
    convention_facts_replace(facts, FACT_REASON,
                             bytes_is(type, "max_deliver") ? BYTES("max_deliveries") : type);
}

static bool is_advisory(const struct convention_letter *letter) {
    struct json type;
    return json_get(letter->body, "type", &type) && type.type == JSON_STRING &&
           bytes_starts(bytes_cut(type.text, 1, type.text.len), type_prefix);
}

static const struct convention rows[] = {
    {.name = "nats-advisory",
     .where = IN_SOURCE,
     .members = {".advisory.type", ".origin.sequence"},
     CONVENTION_FIELDS(followed_fields),
     .read = read_type},
    {.name = "nats-advisory",
     .where = IN_JSON,
     .members = {".type", ".stream", ".stream_seq"},
     .fits = is_advisory,
     CONVENTION_FIELDS(pointer_fields),
     .read = read_type},
};

const struct convention_family format_nats = {rows, sizeof rows / sizeof *rows};
