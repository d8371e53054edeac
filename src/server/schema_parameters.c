/* Parameters in paths and queries: as strict as the server, as the shapes of request bodies are. */
#include "server/schema.h"

#define TEXT                "{\"type\":\"string\",\"minLength\":1}"
#define MAYBE               "{\"type\":\"string\"}"
#define SEGMENT             "{\"type\":\"string\",\"minLength\":1,\"maxLength\":255}"
#define MATCHING(pattern)   "{\"type\":\"string\",\"pattern\":\"" pattern "\"}"
#define NUMBER(least, most) "{\"type\":\"integer\",\"minimum\":" least ",\"maximum\":" most "}"
#define WHEN                                                                                       \
    "{\"anyOf\":[{\"type\":\"string\",\"format\":\"date-time\"}," MATCHING(                        \
        "^(0|[0-9]{1,9}(ms|s|m|h|d))$") "]}"
#define STATE       "(queued|running|pending_retry|retrying|pending_review|replaying|resolved|discarded)"
#define GROUP_STATE "(open|muted|resolved)"
#define CAUSE                                                                                      \
    "{\"enum\":[\"terminal\",\"exhausted\",\"expired\",\"crash\",\"blocked\",\"unclassified\","    \
    "\"unroutable\",\"operator\",\"reported\",\"adopted\"]}"
#define FINGERPRINT MATCHING("^[0-9a-f]{16}$")

/* The first row that fits counts. */
const struct schema_parameter schema_parameters[] = {
    {"queue", "showMessage", MAYBE, "of several messages with this id, the one in this queue"},
    {"queue", "buryMessage", MAYBE, "of several messages with this id, the one in this queue"},
    {"queue", "discardMessage", MAYBE, "of several messages with this id, the one in this queue"},
    {"queue", "showResult", MAYBE, "of several messages with this id, the one in this queue"},
    {"queue", "listMessages", TEXT, "only this queue"},
    {"queue", "listLetters", TEXT, "only this queue"},
    {"queue", "listLettersOfDlq", TEXT, "only this queue"},
    {"queue", "showLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", "explainLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", "resolveLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", "discardLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", "escalateLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", "compensateLetter", MAYBE, "of several letters with this id, the one of this queue"},
    {"queue", NULL, SEGMENT, "a queue's name"},
    {"dlq", "listGroups", MAYBE, "only this DLQ"},
    {"dlq", "listArchives", MAYBE, "only this DLQ"},
    {"dlq", "listMessages", TEXT, "only this DLQ"},
    {"dlq", "listLetters", TEXT, "only this DLQ"},
    {"dlq", NULL, SEGMENT, "a DLQ's name"},
    {"id", NULL, SEGMENT, "of a message, a letter or a replay"},
    {"lease", NULL, SEGMENT, "as a worker was given it"},
    {"name", NULL, SEGMENT, "a file's name"},
    {"fingerprint", NULL, FINGERPRINT, "of a group: 16 hex digits"},
    {"state", "listGroups", MATCHING("^" GROUP_STATE "(," GROUP_STATE ")*$"),
     "open, muted or resolved, or some with commas between them"},
    {"state", NULL, MATCHING("^" STATE "(," STATE ")*$"),
     "only this state, or some with commas between them"},
    {"category", NULL, TEXT, "only this category"},
    {"reason", NULL, TEXT, "reasons that start with this, also behind max_attempts:"},
    {"cause", NULL, CAUSE, "only this cause"},
    {"error_type", NULL, TEXT, "only this error type"},
    {"task_type", NULL, TEXT, "only tasks of this type; looks at the envelopes, as where does"},
    {"since", NULL, WHEN, "from this RFC 3339 time on, or a duration ago (6h)"},
    {"until", NULL, WHEN, "before this RFC 3339 time, or a duration ago"},
    {"min_attempts", NULL, NUMBER("0", "4294967295"), "at least so many attempts"},
    {"key", NULL, TEXT, "only this key"},
    {"escalated", NULL, "{\"type\":\"boolean\"}", "only those that are, or are not, escalated"},
    {"q", NULL, TEXT, "full-text search; at least one letter or digit"},
    {"where", NULL, TEXT, "a jq program on the envelope; what it is true for"},
    {"limit", NULL, NUMBER("1", "1000"), "rows of a page, at most 1000"},
    {"cursor", NULL, MAYBE, "from the page before"},
    {"window", "arrivals", "{\"enum\":[\"1h\",\"24h\",\"7d\",\"\"]}", "how far back"},
    {"window", NULL,
     MATCHING("^([6-9][0-9]{4}|[1-9][0-9]{5}|[12][0-9]{6}|3[0-5][0-9]{5}|3600000)ms$|"
              "^([6-9][0-9]|[1-9][0-9]{2}|[12][0-9]{3}|3[0-5][0-9]{2}|3600)s$|"
              "^([1-9]|[1-5][0-9]|60)m$|^1h$|^$"),
     "how far back: a duration from 1m to 1h"},
    {"do", NULL, "{\"enum\":[\"retry\",\"fallback\",\"dlq\",\"discard\",\"halt\"]}",
     "the verdict of the rule"},
};
const size_t schema_parameter_count = sizeof schema_parameters / sizeof *schema_parameters;
