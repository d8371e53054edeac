/* format_sidekiq: Sidekiq's sets `dead` and `retry`: the job's JSON, with members added at each
 * failure. */
#include "triage/adopt/formats/convention_facts.h"

#include "triage/adopt/formats/convention_trace.h"
#include "triage/adopt/formats/convention_without.h"

enum {
    RETRIES_DEFAULT = 25, /* "retry": true */
    PLACE_MAX = 512,
};
#define SECONDS_MAX (UINT64_C(1) << 40) /* a larger number is not a time */

static const struct convention_field fields[] = {
    FIELD(".jid", FACT_ID, AS_TEXT),
    FIELD(".jid", FACT_TASK_ID, AS_TEXT),
    FIELD(".wrapped", FACT_TASK_TYPE, AS_TEXT),
    FIELD(".class", FACT_TASK_TYPE, AS_TEXT),
    FIELD(".queue", FACT_QUEUE, AS_TEXT),
    FIELD(".error_class", FACT_TYPE, AS_TEXT),
    FIELD(".error_message", FACT_MESSAGE, AS_TEXT),
    FIELD(".retry_count", FACT_RETRIES, AS_DECIMAL),
    FIELD(".retry", FACT_RETRIES_MAX, AS_DECIMAL),
    FIELD(".created_at", FACT_CREATED_AT, AS_EPOCH),
    FIELD(".failed_at", FACT_FIRST_FAILURE_AT, AS_EPOCH),
    FIELD(".retried_at", FACT_LAST_FAILURE_AT, AS_EPOCH),
    FIELD(".failed_at", FACT_LAST_FAILURE_AT, AS_EPOCH),
};

static void place_list(struct convention_facts *facts, struct bytes queue) {
    char text[PLACE_MAX];
    struct buf place;
    buf_init_fixed(&place, text, sizeof text);
    buf_str(&place, "queue:");
    buf_bytes(&place, queue);
    if (queue.len > 0 && !place.overflow)
        convention_facts_text(facts, FACT_PLACE, arena_dup(facts->arena, buf_view(&place)));
}

/* The score in the set `retry` (which may have a namespace in front) is the time of the next retry
 * in seconds. */
static void read_time(struct convention_facts *facts) {
    struct json set;
    struct bytes name, score = facts->letter->held->delivery;
    uint64_t seconds;
    if (!json_get(facts->letter->source, "zset", &set) || !json_string(set, facts->arena, &name) ||
        (!bytes_is(name, "retry") && !bytes_ends(name, BYTES(":retry"))))
        return;
    if (bytes_u64(bytes_cut(score, 0, bytes_find(score, BYTES("."))), &seconds) && seconds > 0 &&
        seconds < SECONDS_MAX)
        convention_facts_time(facts, FACT_RETRY_AT, (int64_t)seconds * 1000);
}

/* A job is sent back as it was before its first failure: with its retry counter it would die at the
 * next failure. */
static void read_sidekiq(struct convention_facts *facts) {
    static const char *const added[] = {
        "error_class", "error_message", "error_backtrace", "failed_at",
        "retried_at",  "retry_count",   "discarded_at",    NULL};
    struct json member;
    struct json job = facts->letter->body;
    if (json_get(job, "retry", &member) && member.type == JSON_TRUE)
        convention_facts_number(facts, FACT_RETRIES_MAX, RETRIES_DEFAULT);
    if (json_get(job, "error_backtrace", &member))
        convention_facts_text(facts, FACT_TRACE, convention_trace(member, facts->arena));
    read_time(facts);
    place_list(facts, convention_facts_get(facts, FACT_QUEUE));
    convention_facts_text(facts, FACT_BODY, convention_without(job, added, facts->arena));
}

static const struct convention rows[] = {
    {.name = "sidekiq",
     .where = IN_JSON,
     .members = {".class", ".jid", ".args", ".error_class"},
     CONVENTION_FIELDS(fields),
     .read = read_sidekiq},
};

const struct convention_family format_sidekiq = {rows, sizeof rows / sizeof *rows};
