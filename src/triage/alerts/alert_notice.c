/* alert_notice: the JSON of a notice for each kind of receiver. Pure. */
#include "triage/alerts/alert_notice.h"

#include <assert.h>
#include <math.h>

#include "base/json/json.h"
#include "base/json/json_member.h"

#define SECONDS_MAX 1e12

enum {
    LETTERS_LISTED = 5,     /* letters listed in a notice that is plain text */
    LETTER_TEXT_MAX = 4096, /* bytes of one member of a letter */
    LETTERS_TEXT_MAX = LETTERS_LISTED * 1024,
};

enum unit { UNIT_NONE, UNIT_COUNT, UNIT_SECONDS, UNIT_SHARE };

/* The sentence of each metric; %s is the value. */
static const struct {
    const char *text;
    enum unit unit;
} phrases[METRIC_COUNT] = {
    [METRIC_DLQ_DEPTH] = {"letters that wait: %s", UNIT_COUNT},
    [METRIC_DLQ_ARRIVALS] = {"letters that arrived in the last minute: %s", UNIT_COUNT},
    [METRIC_DLQ_OLDEST] = {"age of the oldest letter: %s", UNIT_SECONDS},
    [METRIC_DLQ_CAP_RATIO] = {"share of its cap that is used: %s", UNIT_SHARE},
    [METRIC_QUEUE_LAG] = {"messages not yet received: %s", UNIT_COUNT},
    [METRIC_BREAKER_OPEN] = {"time since the breaker was last closed: %s", UNIT_SECONDS},
    [METRIC_SUCCESS_RATIO] = {"share of attempts that succeeded: %s", UNIT_SHARE},
    [METRIC_QUEUE_STALLED] = {"messages are due and none was handed over for %s", UNIT_SECONDS},
    [METRIC_SOURCE_UNREACHABLE] = {"the source cannot be reached for %s", UNIT_SECONDS},
    [METRIC_REASON_RATIO] = {"one reason arrives at %s times its usual rate", UNIT_COUNT},
    [METRIC_CAP_FORECAST] = {"at this rate its cap is reached in %s", UNIT_SECONDS},
    [METRIC_SPILLED] = {"letters spilled to the archive because the cap was reached: %s",
                        UNIT_COUNT},
    [METRIC_FLOOD] = {"most first attempts die of one failure", UNIT_NONE},
    [METRIC_UNREADABLE] = {"messages that cannot be read: %s", UNIT_COUNT},
    [METRIC_GROUP_NEW] = {"a failure that was not seen before", UNIT_NONE},
    [METRIC_GROUP_RETURNED] = {"a failure that was called resolved is back", UNIT_NONE},
    [METRIC_QUEUE_HALTED] = {"the queue is halted", UNIT_NONE},
    [METRIC_BUDGET_EXHAUSTED] = {"the retry budget is used up; retries wait", UNIT_NONE},
    [METRIC_REPLAY_ABORTED] = {"a replay stopped itself", UNIT_NONE},
    [METRIC_TRIAGE_STOPPED] = {"a triage rule stopped itself", UNIT_NONE},
    [METRIC_TRIAGE_ESCALATED] = {"letters were escalated to a person", UNIT_NONE},
};

/* At most two decimals, without trailing zeros. */
static void put_number(struct buf *out, double value) {
    double hundredths = round(value * 100);
    int digits = fmod(hundredths, 10) != 0 ? 2 : fmod(hundredths, 100) != 0 ? 1 : 0;
    buf_printf(out, "%.*f", digits, value);
}

static void put_value(struct buf *out, enum unit unit, double value) {
    if (unit == UNIT_SECONDS)
        duration_say(out, (int64_t)(fmin(fmax(value, 0), SECONDS_MAX) * 1000));
    else
        put_number(out, unit == UNIT_SHARE ? value * 100 : value);
    if (unit == UNIT_SHARE)
        buf_str(out, "%");
}

static void put_phrase(const struct alert_notice *notice, struct buf *out) {
    assert(notice->rule->metric < METRIC_COUNT && phrases[notice->rule->metric].text);
    struct bytes phrase = bytes_of(phrases[notice->rule->metric].text);
    enum unit unit = phrases[notice->rule->metric].unit;
    size_t place = bytes_find(phrase, BYTES("%s"));
    buf_bytes(out, bytes_cut(phrase, 0, place));
    if (unit == UNIT_NONE)
        return;
    put_value(out, unit, notice->value);
    buf_bytes(out, bytes_cut(phrase, place + 2, phrase.len));
    buf_printf(out, " (%s ", notice->rule->below ? "below" : "above");
    put_value(out, unit, notice->rule->limit);
    buf_str(out, ")");
}

struct bytes alert_notice_runbook(const struct alert_notice *notice) {
    return notice->rule->runbook.len > 0 ? notice->rule->runbook : notice->runbook;
}

void alert_notice_summary(const struct alert_notice *notice, struct buf *out) {
    buf_printf(out, "%.*s: ", BYTES_ARG(notice->subject));
    if (notice->step == ALERT_RESOLVE)
        buf_str(out, "resolved; it was: ");
    put_phrase(notice, out);
    if (notice->words.len > 0)
        buf_printf(out, ": %.*s", BYTES_ARG(notice->words));
}

static void put_summary(struct json_out *json, const char *key, const struct alert_notice *notice) {
    char memory[ALERT_SUMMARY_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    alert_notice_summary(notice, &text);
    json_key(json, key);
    json_put(json, buf_view(&text));
}

static void put_text(struct json_out *json, const char *key, const char *text) {
    json_key(json, key);
    json_put_str(json, text);
}

static void put_bytes(struct json_out *json, const char *key, struct bytes text) {
    json_key(json, key);
    json_put(json, text);
}

static void put_time(struct json_out *json, const char *key, struct wall at) {
    char text[INSTANT_TEXT_SIZE];
    put_text(json, key, wall_text(at, text));
}

static const char *severity_of(const struct alert_notice *notice) {
    return alert_severity_words[notice->rule->severity];
}

static const char *status_of(const struct alert_notice *notice) {
    return notice->step == ALERT_RESOLVE ? "resolved" : "firing";
}

/* The DLQ or queue; a group or replay behind a slash is not part of its name. */
static void put_subject(struct json_out *json, const struct alert_notice *notice) {
    size_t end = bytes_find(notice->subject, BYTES("/"));
    put_bytes(json, alert_metric_is_dlq(notice->rule->metric) ? "dlq" : "queue",
              bytes_cut(notice->subject, 0, end));
    if (end < notice->subject.len)
        put_bytes(json, "of", bytes_cut(notice->subject, end + 1, notice->subject.len));
}

static void put_facts(struct json_out *json, const struct alert_notice *notice) {
    put_bytes(json, "alert", notice->rule->name);
    put_text(json, "severity", severity_of(notice));
    put_text(json, "metric", alert_metric_text(notice->rule->metric));
    put_subject(json, notice);
    json_key(json, "value");
    json_put_double(json, notice->value);
    json_key(json, notice->rule->below ? "below" : "above");
    json_put_double(json, notice->rule->limit);
    put_time(json, "since", notice->since);
    json_member_text(json, "owner", notice->owner);
    json_member_text(json, "runbook", alert_notice_runbook(notice));
}

static void put_field(struct json_out *json, const char *title, struct bytes value) {
    if (value.len == 0)
        return;
    json_open(json, '{');
    put_text(json, "title", title);
    put_bytes(json, "value", value);
    json_key(json, "short");
    json_put_bool(json, false);
    json_close(json, '}');
}

static void put_letters(struct json_out *json, const struct alert_notice *notice) {
    if (notice->letters.len == 0)
        return;
    json_key(json, "letters");
    json_put_raw(json, notice->letters);
}

/* "t-1 (bad_request) http://…", a line each. */
static void list_letters(const struct alert_notice *notice, struct buf *out) {
    struct json letters, member;
    char memory[LETTER_TEXT_MAX];
    size_t count = 0;
    if (json_parse(notice->letters, &letters, NULL) != STATUS_OK)
        return;
    for (struct json_walk walk = json_walk(letters); count < LETTERS_LISTED && json_step(&walk);
         count++) {
        static const struct {
            const char *key, *before, *after;
        } parts[] = {{"message_id", "", ""}, {"reason", " (", ")"}, {"url", " ", ""}};
        buf_str(out, count > 0 ? "\n" : "");
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct arena arena;
            struct bytes text;
            arena_init_fixed(&arena, memory, sizeof memory);
            if (json_get(walk.value, parts[i].key, &member) && json_string(member, &arena, &text))
                buf_printf(out, "%s%.*s%s", parts[i].before, BYTES_ARG(text), parts[i].after);
        }
    }
    if (notice->value > (double)count)
        buf_printf(out, "\nand %.0f more", notice->value - (double)count);
}

static void put_letters_field(struct json_out *json, const struct alert_notice *notice) {
    char memory[LETTERS_TEXT_MAX];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    list_letters(notice, &text);
    put_field(json, "Letters", buf_view(&text));
}

static void put_webhook(const struct alert_notice *notice, const struct alert_receiver *receiver,
                        struct json_out *json) {
    (void)receiver;
    json_open(json, '{');
    put_text(json, "status", status_of(notice));
    put_facts(json, notice);
    put_time(json, "at", notice->at);
    json_key(json, "repeat");
    json_put_bool(json, notice->step == ALERT_REPEAT);
    put_summary(json, "summary", notice);
    put_bytes(json, "words", notice->words);
    put_letters(json, notice);
    json_close(json, '}');
}

static void put_slack(const struct alert_notice *notice, const struct alert_receiver *receiver,
                      struct json_out *json) {
    static const char *const colors[] = {
        [ALERT_INFO] = "#4a90d9", [ALERT_WARNING] = "#e0a800", [ALERT_CRITICAL] = "#c0392b"};
    char memory[ALERT_SUMMARY_MAX];
    struct buf text;
    (void)receiver;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "[%s] %.*s", status_of(notice), BYTES_ARG(notice->rule->name));
    json_open(json, '{');
    put_bytes(json, "text", buf_view(&text));
    json_key(json, "attachments");
    json_open(json, '[');
    json_open(json, '{');
    put_text(json, "color",
             notice->step == ALERT_RESOLVE ? "#2e8b57" : colors[notice->rule->severity]);
    put_summary(json, "text", notice);
    put_summary(json, "fallback", notice);
    json_key(json, "fields");
    json_open(json, '[');
    put_letters_field(json, notice);
    put_field(json, "Owner", notice->owner);
    put_field(json, "Runbook", alert_notice_runbook(notice));
    json_close(json, ']');
    put_text(json, "footer", "impound");
    json_close(json, '}');
    json_close(json, ']');
    json_close(json, '}');
}

/* PagerDuty accepts only URLs as links. */
static void put_links(struct json_out *json, struct bytes runbook) {
    if (!bytes_starts(runbook, BYTES("http://")) && !bytes_starts(runbook, BYTES("https://")))
        return;
    json_key(json, "links");
    json_open(json, '[');
    json_open(json, '{');
    put_bytes(json, "href", runbook);
    put_text(json, "text", "Runbook");
    json_close(json, '}');
    json_close(json, ']');
}

static void put_pagerduty(const struct alert_notice *notice, const struct alert_receiver *receiver,
                          struct json_out *json) {
    char memory[ALERT_SUMMARY_MAX];
    struct buf identity;
    buf_init_fixed(&identity, memory, sizeof memory);
    buf_printf(&identity, "impound/%.*s/%.*s", BYTES_ARG(notice->rule->name),
               BYTES_ARG(notice->subject));
    json_open(json, '{');
    put_bytes(json, "routing_key", receiver->key);
    put_text(json, "event_action", notice->step == ALERT_RESOLVE ? "resolve" : "trigger");
    put_bytes(json, "dedup_key", bytes_clip(buf_view(&identity), 255));
    put_text(json, "client", "impound");
    json_key(json, "payload");
    json_open(json, '{');
    put_summary(json, "summary", notice);
    put_text(json, "source", "impound");
    put_text(json, "severity", severity_of(notice));
    put_time(json, "timestamp", notice->at);
    put_bytes(json, "component", notice->subject);
    put_bytes(json, "class", notice->rule->name);
    json_key(json, "custom_details");
    json_open(json, '{');
    put_facts(json, notice);
    put_letters(json, notice);
    json_close(json, '}');
    json_close(json, '}');
    put_links(json, alert_notice_runbook(notice));
    json_close(json, '}');
}

static void put_alertmanager(const struct alert_notice *notice,
                             const struct alert_receiver *receiver, struct json_out *json) {
    (void)receiver;
    json_open(json, '[');
    json_open(json, '{');
    json_key(json, "labels");
    json_open(json, '{');
    put_bytes(json, "alertname", notice->rule->name);
    put_text(json, "severity", severity_of(notice));
    put_text(json, "metric", alert_metric_text(notice->rule->metric));
    put_subject(json, notice);
    if (notice->owner.len > 0)
        put_bytes(json, "owner", notice->owner);
    put_text(json, "source", "impound");
    json_close(json, '}');
    json_key(json, "annotations");
    json_open(json, '{');
    put_summary(json, "summary", notice);
    if (notice->letters.len > 0) {
        char memory[LETTERS_TEXT_MAX];
        struct buf text;
        buf_init_fixed(&text, memory, sizeof memory);
        list_letters(notice, &text);
        put_bytes(json, "letters", buf_view(&text));
    }
    if (alert_notice_runbook(notice).len > 0)
        put_bytes(json, "runbook_url", alert_notice_runbook(notice));
    json_close(json, '}');
    put_time(json, "startsAt", notice->since);
    if (notice->step == ALERT_RESOLVE)
        put_time(json, "endsAt", notice->at);
    json_close(json, '}');
    json_close(json, ']');
}

void alert_notice_put(const struct alert_notice *notice, const struct alert_receiver *receiver,
                      struct buf *out) {
    assert(receiver->kind <= RECEIVER_ALERTMANAGER);
    static void (*const writers[])(const struct alert_notice *, const struct alert_receiver *,
                                   struct json_out *) = {
        [RECEIVER_WEBHOOK] = put_webhook,
        [RECEIVER_SLACK] = put_slack,
        [RECEIVER_PAGERDUTY] = put_pagerduty,
        [RECEIVER_ALERTMANAGER] = put_alertmanager,
    };
    struct json_out json = json_out(out);
    writers[receiver->kind](notice, receiver, &json);
}
