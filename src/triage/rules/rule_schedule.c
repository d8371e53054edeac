/* rule_schedule: the schedule of a triage rule (rule_schedule): its state machine, and its stored
 * form. */
#include "triage/rules/rule_schedule.h"

#include <assert.h>
#include <stdio.h>

#include "base/json/json_member.h"

enum { READ_ARENA_SIZE = 4096 };

static const char *const stages[] = {
    [TRIAGE_WAITING] = "waiting", [TRIAGE_RUNNING] = "running", [TRIAGE_STOPPED] = "stopped"};

const char *rule_schedule_stage_text(enum triage_stage stage) {
    assert(stage < TRIAGE_STAGE_COUNT);
    return stages[stage];
}

/* ---- transitions ---- */

int64_t rule_schedule_wait_ms(const struct triage_rule *rule, uint32_t useless) {
    assert(rule->every_ms > 0);
    int64_t wait = rule->every_ms;
    for (uint32_t i = 0; i < useless && wait < rule->backoff_ms; i++)
        wait *= 2;
    return wait > rule->backoff_ms && rule->backoff_ms > rule->every_ms ? rule->backoff_ms : wait;
}

static void wait_on(struct rule_schedule *course, const struct triage_rule *rule, struct wall now) {
    course->stage = TRIAGE_WAITING;
    course->replay[0] = '\0';
    course->next_run_at.ms = now.ms + rule_schedule_wait_ms(rule, course->useless);
}

void rule_schedule_begin(struct rule_schedule *course, const struct triage_rule *rule,
                         struct wall now) {
    course->useless = 0;
    course->why[0] = '\0';
    if (course->stage != TRIAGE_RUNNING)
        wait_on(course, rule, now);
}

void rule_schedule_rest(struct rule_schedule *course, const struct triage_rule *rule,
                        struct wall now) {
    course->last_run_at = now;
    wait_on(course, rule, now);
}

void rule_schedule_resume(struct rule_schedule *course, struct wall now) {
    course->stage = TRIAGE_WAITING;
    course->useless = 0;
    course->why[0] = '\0';
    course->next_run_at = now;
}

/* Why the run did not help; empty: it did. */
static void why_useless(const struct triage_counts *counter, char why[TRIAGE_WHY_MAX]) {
    why[0] = '\0';
    if (counter->aborted)
        snprintf(why, TRIAGE_WHY_MAX, "%.200s", counter->why[0] ? counter->why : "it aborted");
    else if (counter->sent == 0 && counter->escalated == 0)
        snprintf(why, TRIAGE_WHY_MAX, "none of its letters could be sent");
    else if (counter->sent >= TRIAGE_JUDGED_LEAST && counter->failed * 2 > counter->sent)
        snprintf(why, TRIAGE_WHY_MAX, "%llu of %llu letters are dead again",
                 (unsigned long long)counter->failed, (unsigned long long)counter->sent);
}

void rule_schedule_judge(struct rule_schedule *course, const struct triage_rule *rule,
                         const struct triage_counts *counter, struct wall now) {
    assert(course->stage != TRIAGE_STOPPED && counter->fixed + counter->failed <= counter->sent);
    char why[TRIAGE_WHY_MAX];
    why_useless(counter, why);
    course->fixed += counter->fixed;
    course->failed += counter->failed;
    course->escalated += counter->escalated;
    course->useless = why[0] ? course->useless + 1 : 0;
    snprintf(course->why, sizeof course->why, "%s", why);
    wait_on(course, rule, now);
    if (course->useless < rule->stop_after)
        return;
    course->stage = TRIAGE_STOPPED;
    course->next_run_at = WALL_NEVER;
    snprintf(course->why, sizeof course->why, "%u runs in a row did not help; the last one: %.200s",
             course->useless, why);
}

/* ---- as JSON ---- */

void rule_schedule_put(struct json_out *json, const struct rule_schedule *course) {
    assert(course->stage < TRIAGE_STAGE_COUNT);
    json_member_text(json, "state", bytes_of(stages[course->stage]));
    json_member_text(json, "why", bytes_of(course->why));
    json_member_time(json, "last_run_at", course->last_run_at);
    json_member_time(json, "next_run_at", course->next_run_at);
    json_member_text(json, "replay", bytes_of(course->replay));
    json_member_number(json, "useless", course->useless);
    json_member_number(json, "runs", course->runs);
    json_key(json, "letters");
    json_open(json, '{');
    for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
        if (course->letters[i] > 0)
            json_member_number(json, triage_rule_actions[i], course->letters[i]);
    json_close(json, '}');
    json_member_number(json, "fixed", course->fixed);
    json_member_number(json, "failed", course->failed);
    json_member_number(json, "escalated", course->escalated);
    json_member_text(json, "ticket", bytes_of(course->ticket));
    json_member_number(json, "ticket_letters", course->ticket_letters);
}

/* ---- reading ---- */

struct schedule_reading {
    struct json object;
    struct arena arena;
    char memory[READ_ARENA_SIZE];
};

static void read_text(struct schedule_reading *reading, const char *key, char *out, size_t size) {
    struct json value;
    struct bytes text = BYTES_NONE;
    if (json_get(reading->object, key, &value))
        json_string(value, &reading->arena, &text);
    snprintf(out, size, "%.*s", BYTES_ARG(bytes_clip(text, size - 1)));
}

static struct wall read_time(struct schedule_reading *reading, const char *key) {
    char text[INSTANT_TEXT_SIZE];
    struct wall at;
    read_text(reading, key, text, sizeof text);
    return wall_parse(bytes_of(text), &at) ? at : WALL_NEVER;
}

static uint64_t number_of(struct json object, const char *key) {
    struct json value;
    int64_t number;
    return json_get(object, key, &value) && json_i64(value, &number) && number > 0
               ? (uint64_t)number
               : 0;
}

static bool read_stage(struct schedule_reading *reading, enum triage_stage *out) {
    char text[sizeof "stopped"];
    read_text(reading, "state", text, sizeof text);
    for (int i = 0; i < TRIAGE_STAGE_COUNT; i++)
        if (bytes_is(bytes_of(text), stages[i])) {
            *out = (enum triage_stage)i;
            return true;
        }
    return false;
}

enum status rule_schedule_read(struct json object, struct rule_schedule *out, struct err *err) {
    struct schedule_reading reading = {.object = object};
    struct json letters;
    *out = (struct rule_schedule){.stage = TRIAGE_WAITING};
    arena_init_fixed(&reading.arena, reading.memory, sizeof reading.memory);
    if (object.type != JSON_OBJECT || !read_stage(&reading, &out->stage))
        return err_set(err, STATUS_CORRUPT, "the stored state of the triage rule is damaged");
    read_text(&reading, "why", out->why, sizeof out->why);
    read_text(&reading, "replay", out->replay, sizeof out->replay);
    read_text(&reading, "ticket", out->ticket, sizeof out->ticket);
    out->last_run_at = read_time(&reading, "last_run_at");
    out->next_run_at = read_time(&reading, "next_run_at");
    out->useless = (uint32_t)number_of(object, "useless");
    out->runs = number_of(object, "runs");
    out->fixed = number_of(object, "fixed");
    out->failed = number_of(object, "failed");
    out->escalated = number_of(object, "escalated");
    out->ticket_letters = number_of(object, "ticket_letters");
    if (json_get(object, "letters", &letters))
        for (int i = 0; i < TRIAGE_ACTION_COUNT; i++)
            out->letters[i] = number_of(letters, triage_rule_actions[i]);
    return STATUS_OK;
}
