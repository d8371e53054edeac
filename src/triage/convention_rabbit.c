/* RabbitMQ's own x-death: one entry a queue and reason, the latest death first. The broker shows it
 * as "deaths" in the letter's source. */
#include "triage/convention_facts.h"

#include "base/json_path.h"

enum { WORDS_MAX = 512 };

static struct bytes text_at(struct json json, const char *path, struct arena *arena) {
    struct json value;
    struct bytes text;
    if (!json_path_get(json, bytes_of(path), &value) || !json_string(value, arena, &text))
        return BYTES_NONE;
    return text;
}

/* The entry of the queue where it died first; that one's place in the list says nothing once it
 * has died there again. */
static bool first_death(const struct convention_facts *facts, struct json deaths,
                        struct json *out) {
    struct bytes first = convention_facts_header(facts->letter->held, "x-first-death-queue", false);
    bool any = false;
    for (struct json_walk walk = json_walk(deaths); json_step(&walk);) {
        if (walk.value.type != JSON_OBJECT)
            continue;
        *out = walk.value;
        any = true;
        if (first.len > 0 && bytes_eq(text_at(walk.value, ".queue", facts->arena), first))
            break;
    }
    return any;
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

/* An entry's time is when it began. */
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

/* There is no error; what happened is told like one. */
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
    struct json deaths, first;
    if (!json_get(facts->letter->source, "deaths", &deaths) || !first_death(facts, deaths, &first))
        return;
    struct bytes queue = text_at(first, ".queue", facts->arena);
    convention_facts_text(facts, FACT_PLACE, queue);
    convention_facts_text(facts, FACT_EXCHANGE, text_at(first, ".exchange", facts->arena));
    convention_facts_text(facts, FACT_ROUTING_KEY,
                          text_at(first, ".\"routing-keys\"[0]", facts->arena));
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

static const struct convention rows[] = {
    {.name = "rabbitmq",
     .where = IN_SOURCE,
     .members = {".deaths[0].queue"},
     CONVENTION_FIELDS(fields),
     .read = read_deaths},
};

const struct convention_family convention_rabbit = {rows, sizeof rows / sizeof *rows};
