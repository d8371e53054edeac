/* replay_text: see the header. */
#include "cli/view/replay_text.h"

#include "cli/view/columns.h"
#include "cli/view/field.h"
#include "cli/view/sentence.h"
#include "cli/view/safe_text.h"

static const struct listing_column letter_columns[] = {
    {{"LETTER", false}, "id", NULL},
    {{"QUEUE", false}, "queue", NULL},
    {{"OUTCOME", false}, "outcome", NULL},
    {{"WHY", false}, "why", NULL},
};

static const struct listing_column group_columns[] = {
    {{"GROUP", false}, "fingerprint", NULL},
    {{"LETTERS", true}, "count", NULL},
    {{"ERROR", false}, "sample", NULL},
};

static const struct story_line one_lines[] = {
    {"state", "state", NULL},
    {"why", "why", NULL},
    {"selected", "selected", NULL},
    {"sent", "sent", NULL},
    {"resolved", "resolved", NULL},
    {"failed", "failed", NULL},
    {"skipped", "skipped", NULL},
    {"edit", "edit", NULL},
    {"to", "to", NULL},
    {"rate", "rate", NULL},
    {"created", "created_at", field_time},
    {"started", "started_at", field_time},
    {"ended", "ended_at", field_time},
    {"who", "who", NULL},
};

/* Each kind of letter that was not sent or not resolved, since "skipped" alone does not tell the
 * remedy. */
static void put_outcomes(struct json replay, struct buf *out) {
    static const char *const told[] = {"resolved", "failed again", "sent", "not sent"};
    for (struct json_walk w = json_walk(field_at(replay, "outcomes")); json_step(&w);) {
        bool known = false;
        for (size_t i = 0; i < COMMAND_COUNT(told); i++)
            known |= json_key_is(w.key, told[i]);
        if (known)
            continue;
        buf_printf(out, "\n  %.*s ", BYTES_ARG(w.value.text));
        text_put(out, w.key);
    }
}

void replay_text_line(struct json replay, struct arena *arena, struct buf *out) {
    struct bytes why = field_text(replay, "why", arena);
    sentence_put(replay,
                 "replay {id} is {state}: {sent} of {selected} sent, {resolved} resolved, "
                 "{failed} failed, {skipped} skipped",
                 arena, out);
    put_outcomes(replay, out);
    if (why.len > 0) {
        buf_str(out, "\n  ");
        text_put(out, why);
    }
    buf_char(out, '\n');
}

/* ---- the plan ---- */

static void put_change(struct json change, struct arena *arena, struct buf *out) {
    static const struct { const char *key, *sign; } sides[] = {{"before", "-"}, {"after", "+"}};
    for (size_t i = 0; i < COMMAND_COUNT(sides); i++) {
        struct json value;
        if (!json_get(change, sides[i].key, &value))
            continue;
        buf_printf(out, "    %s ", sides[i].sign);
        text_put(out, field_text(change, "path", arena));
        buf_str(out, ": ");
        text_put(out, value.text);
        buf_char(out, '\n');
    }
}

static void put_samples(struct json plan, struct arena *arena, struct buf *out) {
    for (struct json_walk w = json_walk(field_at(plan, "samples")); json_step(&w);) {
        struct bytes problem = field_text(w.value, "problem", arena);
        struct json diff = field_at(w.value, "diff");
        if (diff.type != JSON_ARRAY && problem.len == 0)
            continue;
        buf_str(out, "  ");
        text_put(out, field_text(w.value, "id", arena));
        buf_char(out, '\n');
        for (struct json_walk change = json_walk(diff); json_step(&change);)
            put_change(change.value, arena, out);
        if (problem.len > 0) {
            buf_str(out, "    the edit fails: ");
            text_put(out, problem);
            buf_char(out, '\n');
        }
    }
}

static void put_count(struct json plan, const char *key, const char *words, struct arena *arena,
                      struct buf *out) {
    struct bytes count = field_text(plan, key, arena);
    if (count.len > 0 && !bytes_is(count, "0"))
        buf_printf(out, "  %.*s %s\n", BYTES_ARG(count), words);
}

void replay_view_plan(const struct cli_env *env, struct json plan, struct arena *arena,
                      struct buf *out) {
    struct story story = {env, plan, arena, out};
    struct bytes selected = field_text(plan, "selected", arena);
    buf_printf(out, "%.*s letter%s would be replayed at %.*s", BYTES_ARG(selected),
               bytes_is(selected, "1") ? "" : "s",
               BYTES_ARG(field_text(plan, "order.rate", arena)));
    struct bytes time = field_age(plan, "estimated_seconds", arena);
    if (time.len > 0)
        buf_printf(out, ", in about %.*s", BYTES_ARG(time));
    buf_char(out, '\n');
    put_count(plan, "stale", "stale: would be skipped", arena, out);
    put_count(plan, "read_only", "read-only: left alone, their broker still has them", arena, out);
    put_count(plan, "to_check", "to be checked before they are sent: stale ones are skipped", arena,
              out);
    put_count(plan, "over_replayed", "replayed too often: would be escalated", arena, out);
    put_count(plan, "damaged", "left out besides: they cannot be read", arena, out);
    put_count(plan, "skipped", "left out besides: --where failed on them", arena, out);
    if (bytes_is(selected, "0"))
        return;
    for (struct json_walk w = json_walk(field_at(plan, "destinations")); json_step(&w);) {
        struct bytes origin = field_text(w.value, "origin", arena);
        buf_printf(out, "  %.*s to %s", BYTES_ARG(field_text(w.value, "count", arena)),
                   origin.len > 0 ? "" : "queue ");
        text_put(out, origin.len > 0 ? origin : field_text(w.value, "queue", arena));
        buf_char(out, '\n');
    }
    struct bytes version = field_text(plan, "order.when_version", arena);
    if (version.len > 0) {
        buf_str(out, "  waits until every consumer of the queue reports a version ");
        text_put(out, version);
        buf_char(out, '\n');
    }
    listing_print(&story, group_columns, COMMAND_COUNT(group_columns), field_at(plan, "groups"),
                  STORY_INDENT);
    put_samples(plan, arena, out);
    buf_str(out, "Nothing was changed; --apply does it.\n");
    struct bytes until = field_text(plan, "until", arena);
    if (until.len > 0)
        buf_printf(out, "With --until %.*s it is these and none that came since.\n",
                   BYTES_ARG(until));
}

/* ---- replays ---- */

void replay_view_one(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    story_title(&story, "replay", field_text(answer, "id", arena));
    story_lines(&story, one_lines, COMMAND_COUNT(one_lines));
    story_members(&story, "outcomes", "outcomes");
    listing_print(&story, letter_columns, COMMAND_COUNT(letter_columns),
                  field_at(answer, "letters"), STORY_INDENT);
}

void replay_view_all(const struct cli_env *env, struct json answer, struct arena *arena,
                     struct buf *out) {
    struct story story = {env, answer, arena, out};
    columns_print(&story, COLUMNS_REPLAY,
                  "REPLAY,STATE,SELECTED,SENT,RESOLVED,FAILED,SKIPPED,CREATED,WHO,WHY",
                  field_at(answer, "replays"));
}
