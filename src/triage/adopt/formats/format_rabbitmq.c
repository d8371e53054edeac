/* format_rabbitmq: RabbitMQ's x-death (one entry for each queue and reason, the latest death
 * first), which the broker adapter gives as "deaths" in the letter's source; and Spring AMQP's
 * headers, of a message that Spring published to an error exchange after its listener failed. */
#include "triage/adopt/formats/convention_facts.h"

#include "base/json/json_path.h"

enum { WORDS_MAX = 512 };

static struct bytes text_at(struct json json, const char *path, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_path_get(json, bytes_of(path), &value) || !json_string(value, arena, &text))
        return BYTES_NONE;
    return text;
}

/* Whether a consumer rejected the message there, or returned it too often. */
static bool consumer_failed(struct json death, struct arena *arena) {
    struct bytes reason = text_at(death, ".reason", arena);
    return bytes_is(reason, "rejected") || bytes_is(reason, "delivery_limit");
}

/* Whether its own expiration ended there, as in a delay queue. The server removes the expiration,
 * so that a message which is published to that queue again would stay in it. */
static bool was_delayed(struct json death, struct arena *arena) {
    return text_at(death, ".\"original-expiration\"", arena).len > 0;
}

/* The origin: the last queue in which a consumer failed. Where no consumer ever did (expired,
 * maxlen), the queue of the first death, or else the oldest entry; a delay queue only if there is
 * no other. The position of an entry says nothing about the first death once the message has died
 * there again. */
static bool find_origin(const struct convention_facts *facts, struct json deaths,
                        struct json *out) {
    struct bytes first = convention_facts_header(facts->letter->held, "x-first-death-queue", false);
    int best = 0;
    for (struct json_walk walk = json_walk(deaths); json_step(&walk);) {
        if (walk.value.type != JSON_OBJECT)
            continue;
        if (consumer_failed(walk.value, facts->arena)) {
            *out = walk.value;
            return true;
        }
        bool is_first =
            first.len > 0 && bytes_eq(text_at(walk.value, ".queue", facts->arena), first);
        int rank = 1 + is_first + 2 * !was_delayed(walk.value, facts->arena);
        if (rank >= best) {
            *out = walk.value;
            best = rank;
        }
    }
    return best > 0;
}

/* How often it died in that queue, for whatever reason. */
static int64_t count_deaths(const struct convention_facts *facts, struct json deaths,
                            struct bytes queue) {
    int64_t sum = 0;
    for (struct json_walk walk = json_walk(deaths); json_step(&walk);) {
        struct json value;
        int64_t count;
        if (walk.value.type != JSON_OBJECT ||
            !bytes_eq(text_at(walk.value, ".queue", facts->arena), queue) ||
            !json_get(walk.value, "count", &value) || !json_i64(value, &count) || count < 0)
            continue;
        sum = count < UINT32_MAX ? sum + count : UINT32_MAX;
    }
    return sum;
}

/* An entry's time is that of its first death. */
static void read_times(struct convention_facts *facts, struct json deaths) {
    int64_t first_ms = INT64_MAX, last_ms = 0;
    for (struct json_walk walk = json_walk(deaths); json_step(&walk);) {
        struct wall at;
        if (walk.value.type != JSON_OBJECT ||
            !wall_parse(text_at(walk.value, ".time", facts->arena), &at))
            continue;
        first_ms = at.ms < first_ms ? at.ms : first_ms;
        last_ms = at.ms > last_ms ? at.ms : last_ms;
    }
    convention_facts_time(facts, FACT_FIRST_FAILURE_AT, first_ms);
    convention_facts_time(facts, FACT_LAST_FAILURE_AT, last_ms);
}

/* x-death has no error message, so one is made of reason and queue. */
static struct bytes words_of(struct bytes reason, struct bytes queue, struct arena *arena) {
    char text[WORDS_MAX];
    struct buf out;
    buf_init_fixed(&out, text, sizeof text);
    buf_bytes(&out, reason);
    buf_str(&out, " in queue ");
    buf_bytes(&out, queue);
    return arena_dup(arena, buf_view(&out));
}

static void read_deaths(struct convention_facts *facts) {
    struct json deaths, origin;
    if (!json_get(facts->letter->source, "deaths", &deaths) || !find_origin(facts, deaths, &origin))
        return;
    struct bytes queue = text_at(origin, ".queue", facts->arena);
    convention_facts_text(facts, FACT_PLACE, queue);
    convention_facts_text(facts, FACT_EXCHANGE, text_at(origin, ".exchange", facts->arena));
    convention_facts_text(facts, FACT_ROUTING_KEY,
                          text_at(origin, ".\"routing-keys\"[0]", facts->arena));
    convention_facts_number(facts, FACT_ATTEMPTS, count_deaths(facts, deaths, queue));
    read_times(facts, deaths);
    convention_facts_text(facts, FACT_MESSAGE,
                          words_of(convention_facts_get(facts, FACT_REASON),
                                   text_at(deaths, ".[0].queue", facts->arena), facts->arena));
}

static const struct convention_field fields[] = {
    FIELD(".deaths[0].reason", FACT_REASON, AS_TEXT),
    BESIDE(".deaths[0].queue", "died_in"),
};

/* ---- Spring AMQP: RepublishMessageRecoverer ---- */

static const struct convention_field spring_fields[] = {
    FIELD("x-original-exchange", FACT_EXCHANGE, AS_TEXT),
    FIELD("x-original-routingKey", FACT_ROUTING_KEY, AS_TEXT),
    LAST("x-exception-message", FACT_MESSAGE, AS_TEXT),
    LAST("x-exception-stacktrace", FACT_TRACE, AS_TEXT),
};

/* Finds the line of the trace that is "TYPE: MESSAGE": the last such line is the innermost cause.
 */
static struct bytes type_in(struct bytes trace, struct bytes message) {
    struct bytes found = BYTES_NONE;
    while (trace.len > 0 && message.len > 0) {
        size_t end = bytes_find(trace, BYTES("\n"));
        struct bytes line = bytes_cut(trace, 0, end);
        trace = bytes_cut(trace, end + 1, trace.len);
        if (bytes_starts(line, BYTES("Caused by: ")))
            line = bytes_cut(line, 11, line.len);
        size_t colon = bytes_find(line, BYTES(": "));
        if (colon > 0 && bytes_starts(bytes_cut(line, colon + 2, line.len), message) &&
            bytes_find(line, BYTES(" ")) > colon)
            found = bytes_cut(line, 0, colon);
    }
    return found;
}

/* The default exchange routes to the queue that the routing key names. */
static void read_spring(struct convention_facts *facts) {
    if (!facts->facts[FACT_EXCHANGE].known)
        convention_facts_text(facts, FACT_PLACE, convention_facts_get(facts, FACT_ROUTING_KEY));
    convention_facts_text(facts, FACT_TYPE,
                          type_in(convention_facts_get(facts, FACT_TRACE),
                                  convention_facts_get(facts, FACT_MESSAGE)));
}

static const struct convention rows[] = {
    {.name = "spring-amqp",
     .kind = "rabbitmq",
     .members = {"x-original-exchange", "x-original-routingKey", "x-exception-stacktrace"},
     CONVENTION_FIELDS(spring_fields),
     .read = read_spring},
    {.name = "rabbitmq",
     .where = IN_SOURCE,
     .members = {".deaths[0].queue"},
     CONVENTION_FIELDS(fields),
     .read = read_deaths},
};

const struct convention_family format_rabbitmq = {rows, sizeof rows / sizeof *rows};
