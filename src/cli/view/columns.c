/* columns: the table of columns. */
#include "cli/view/columns.h"

#include <assert.h>

#include "cli/view/field.h"

static const struct listing_column queue[] = {
    {{"QUEUE", false}, "queue", NULL},
    {{"STATE", false}, "state", NULL},
    {{"WHY", false}, "why", NULL},
    {{"DEPTH", true}, "depth", NULL},
    {{"IN FLIGHT", true}, "in_flight", NULL},
    {{"RETRY", true}, "pending_retry", NULL},
    {{"RETRIES", true}, "retries", NULL},
    {{"LAG", true}, "lag", NULL},
    {{"BREAKER", false}, "breaker.state", NULL},
    {{"IN/MIN", true}, "rates.in_per_minute", NULL},
    {{"OK/MIN", true}, "rates.ok_per_minute", NULL},
    {{"FAILED/MIN", true}, "rates.failed_per_minute", NULL},
    {{0}, NULL, NULL},
};

static const struct listing_column dlq[] = {
    {{"DLQ", false}, "dlq", NULL},
    {{"DEPTH", true}, "depth", NULL},
    {{"CAP", true}, "cap", NULL},
    {{"NEW/MIN", true}, "arrivals_per_minute", NULL},
    {{"OLDEST", true}, "oldest_age_seconds", field_age},
    {{"EVER", true}, "total", NULL},
    {{"SPILLED", true}, "spilled", NULL},
    {{"FIXED %", true}, "auto_fixed_percent", NULL},
    {{"ESCALATED %", true}, "escalated_percent", NULL},
    {{"OWNER", false}, "owner", NULL},
    {{0}, NULL, NULL},
};

static const struct listing_column alert[] = {
    {{"ALERT", false}, "alert", NULL},     {{"SEVERITY", false}, "severity", NULL},
    {{"STATE", false}, "state", NULL},     {{"SINCE", false}, "since", field_time},
    {{"OWNER", false}, "owner", NULL},     {{"RUNBOOK", false}, "runbook", NULL},
    {{"SUMMARY", false}, "summary", NULL}, {{0}, NULL, NULL},
};

static const struct listing_column replay[] = {
    {{"REPLAY", false}, "id", NULL},
    {{"STATE", false}, "state", NULL},
    {{"SELECTED", true}, "selected", NULL},
    {{"SENT", true}, "sent", NULL},
    {{"RESOLVED", true}, "resolved", NULL},
    {{"FAILED", true}, "failed", NULL},
    {{"SKIPPED", true}, "skipped", NULL},
    {{"CREATED", false}, "created_at", field_time},
    {{"WHO", false}, "who", NULL},
    {{"WHY", false}, "why", NULL},
    {{0}, NULL, NULL},
};

static const struct listing_column adoption[] = {
    {{"ADOPT", false}, "adopt", NULL},     {{"MODE", false}, "mode", NULL},
    {{"DLQ", false}, "dlq", NULL},         {{"STATE", false}, "state", NULL},
    {{"ADOPTED", true}, "adopted", NULL},  {{"TAKEN", true}, "taken", NULL},
    {{"KNOWN", true}, "known", NULL},      {{"LAST", false}, "last_at", field_time},
    {{"TROUBLE", false}, "trouble", NULL}, {{0}, NULL, NULL},
};

static const struct listing_column *const tables[] = {[COLUMNS_QUEUE] = queue,
                                                      [COLUMNS_DLQ] = dlq,
                                                      [COLUMNS_ALERT] = alert,
                                                      [COLUMNS_REPLAY] = replay,
                                                      [COLUMNS_ADOPTION] = adoption};

static const struct listing_column *find(const struct listing_column *columns, struct bytes title) {
    while (columns->path && !bytes_is(title, columns->column.title))
        columns++;
    assert(columns->path);
    return columns;
}

void columns_print(const struct story *story, enum columns_of of, const char *shown,
                   struct json array) {
    struct listing_column columns[TABLE_COLUMNS_MAX];
    size_t count = 0;
    for (struct bytes rest = bytes_of(shown); rest.len > 0; count++) {
        size_t comma = bytes_find(rest, BYTES(","));
        assert(count < TABLE_COLUMNS_MAX);
        columns[count] = *find(tables[of], bytes_cut(rest, 0, comma));
        rest = bytes_cut(rest, comma + 1, rest.len);
    }
    listing_print(story, columns, count, array, 0);
}

void columns_adoptions(const struct story *story, struct json answer) {
    struct json adoptions = field_at(answer, "adoptions");
    struct json_walk walk = json_walk(adoptions);
    if (!json_step(&walk))
        return;
    buf_char(story->out, '\n');
    columns_print(story, COLUMNS_ADOPTION, "ADOPT,MODE,DLQ,STATE,ADOPTED,TAKEN,KNOWN,LAST,TROUBLE",
                  adoptions);
}
