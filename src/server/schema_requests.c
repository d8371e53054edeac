/* What requests may carry, as JSON Schema: exactly what the server takes, so that a client which
 * checks a request against /openapi.json is not refused by the server, and the other way round.
 * tests/e2e/test_81_api_properties.py holds the two against each other.
 *
 * What JSON Schema cannot say is said in a description: that lengths are bytes, that a text is a jq
 * program, that a cursor is one that an answer gave. */
#include "server/schema.h"

/* ---- texts and numbers ---- */

#define PRINTABLE           "\"pattern\":\"^[^\\\\u0000-\\\\u001f\\\\u007f-\\\\u009f]*$\""
#define OF(type)            "\"type\":\"" type "\""
#define OR_NULL(type)       "\"type\":[\"" type "\",\"null\"]"
#define SAID(text)          "\"description\":\"" text "\""
#define LENGTH(least, most) "\"minLength\":" least ",\"maxLength\":" most
#define RANGE(least, most)  "\"minimum\":" least ",\"maximum\":" most

#define ANY(text)           "{" SAID(text) "}"
#define BOOLEAN             "{" OF("boolean") "}"
#define MAYBE_BOOLEAN(text) "{" OR_NULL("boolean") "," SAID(text) "}"
#define TEXT(least, most, text)                                                                    \
    "{" OF("string") "," LENGTH(least, most) "," PRINTABLE "," SAID(text) "}"
#define MAYBE_TEXT(least, most, text)                                                              \
    "{" OR_NULL("string") "," LENGTH(least, most) "," PRINTABLE "," SAID(text) "}"
#define MAYBE_ANY_TEXT(text) "{" OR_NULL("string") "," SAID(text) "}"
#define MAYBE_NUMBER(least, most, text)                                                            \
    "{" OR_NULL("integer") "," RANGE(least, most) "," SAID(text) "}"
#define ONE_OF(values, text)  "{\"enum\":[" values "]," SAID(text) "}"
#define MATCHING(pattern)     "{" OF("string") ",\"pattern\":\"" pattern "\"}"
#define ANY_OF(schemas, text) "{\"anyOf\":[" schemas "]," SAID(text) "}"
#define NULL_TOO              ",{\"type\":\"null\"}"
#define LIST(items, least, most)                                                                   \
    "{" OF("array") ",\"minItems\":" least ",\"maxItems\":" most ",\"items\":" items "}"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"

#define FINGERPRINT "^[0-9a-f]{16}$"
#define DURATION    "^(0|[0-9]{1,9}(ms|s|m|h|d))$"
/* At most 365d. */
#define DELAY                                                                                      \
    "^(0|([0-9]{1,10}|[12][0-9]{10}|30[0-9]{9}|31[0-4][0-9]{8}|315[0-2][0-9]{7})ms|"               \
    "([0-9]{1,7}|[12][0-9]{7}|30[0-9]{6}|31[0-4][0-9]{5}|315[0-2][0-9]{4})s|"                      \
    "([0-9]{1,5}|[1-4][0-9]{5}|5[01][0-9]{4}|52[0-4][0-9]{3}|525[0-5][0-9]{2}|525600)m|"           \
    "([0-9]{1,3}|[1-7][0-9]{3}|8[0-6][0-9]{2}|87[0-5][0-9]|8760)h|"                                \
    "([0-9]{1,2}|[12][0-9]{2}|3[0-5][0-9]|36[0-5])d)$"
#define HTTP_DATE                                                                                  \
    "^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), ((0[1-9]|1[0-9]|2[0-8]) "                                     \
    "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|"                                           \
    "(29|30) (Jan|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|31 (Jan|Mar|May|Jul|Aug|Oct|Dec)) "     \
    "(19|20)[0-9]{2} ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9] GMT$"
#define BASE64      "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"
#define HEADER_NAME "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,8192}$"
#define RATE                                                                                       \
    "^(max|[1-9][0-9]{0,3}(\\\\.[0-9]{1,6})?/s|([1-9]|[1-9][0-9])(\\\\.[0-9]{1,6})?%|100%)$"
#define VERSION_RULE "^(>=|>|=) ?[0-9]{1,4}(\\\\.[0-9]{1,4}){0,3}$"
#define FOLDER       "^file:."
#define TIME         "{" OF("string") ",\"format\":\"date-time\"}"
/* Nothing failed before 1970, from which computers count. A time without a zone is UTC. */
#define REPORT_TIMES                                                                               \
    "{" OF("string") ",\"format\":\"date-time\",\"pattern\":"                                      \
                     "\"^(197[1-9]|19[89][0-9]|[2-9][0-9]{3})-\"}," MATCHING(                      \
                         "^(19[89][0-9]|20[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T"       \
                         "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\\\.[0-9]{1,6})?$") NULL_TOO

/* ---- objects ---- */

#define FIRST(name, schema) "\"" name "\":" schema
#define NEXT(name, schema)  ",\"" name "\":" schema
/* Unknown members are refused. */
#define ONLY(required, members)                                                                    \
    "{\"type\":\"object\",\"additionalProperties\":false,\"required\":[" required                  \
    "],\"properties\":{" members "}}"

#define HEADERS                                                                                    \
    "{" OR_NULL("object") ",\"maxProperties\":256,\"propertyNames\":{\"pattern\":\"" HEADER_NAME   \
                          "\"},\"additionalProperties\":" TEXT("0", "8192",                        \
                                                               "a header's value") "}"
#define RETRY_AFTER                                                                                \
    ANY_OF("{" OF("integer") "," RANGE("0", "18446744073709551615") "}," MATCHING(                 \
               "^[0-9]{1,9}$") "," MATCHING(DURATION) "," MATCHING(HTTP_DATE) NULL_TOO,            \
           "seconds, a duration such as 5m, or an HTTP date")
#define VERDICT                                                                                    \
    ONE_OF("\"retry\",\"fallback\",\"dlq\",\"discard\",\"halt\",null", "overrides the rules")
#define STATUS MAYBE_NUMBER("100", "599", "the HTTP status of the failure")
#define KEY                                                                                        \
    MAYBE_TEXT("1", "1024", "bytes; messages of one key go in order where the queue says so")
#define LEASE_MS MAYBE_NUMBER("1", "43200000", "from now on; as long as before unless given")
#define LEASE    TEXT("1", "255", "as a worker was given it")

/* What a worker may say of a failure. */
#define FAILURE_BUT_STATUS(FIRST_OR_NEXT)                                                          \
    FIRST_OR_NEXT("error_type", MAYBE_ANY_TEXT("the exception's class"))                           \
    NEXT("error_message", MAYBE_ANY_TEXT("what it says"))                                          \
    NEXT("stack_trace", MAYBE_ANY_TEXT("the last 20 frames, 16 KiB, are kept"))                    \
    NEXT("verdict", VERDICT)                                                                       \
    NEXT("retry_after", RETRY_AFTER)                                                               \
    NEXT("version", MAYBE_ANY_TEXT("of the worker, as groups show it"))                            \
    NEXT("consumer_instance", MAYBE_ANY_TEXT("which worker it was, for the letter"))
#define FAILURE(FIRST_OR_NEXT) FAILURE_BUT_STATUS(FIRST_OR_NEXT) NEXT("status", STATUS)

/* ---- choosing letters ---- */

#define ANY_STATE                                                                                  \
    "(queued|running|pending_retry|retrying|pending_review|replaying|resolved|discarded)"
#define STATES         "^" ANY_STATE "(," ANY_STATE ")*$"
#define OPEN_STATES    "^(" ANY_STATE ",)*(pending_review|replaying)(," ANY_STATE ")*$"
#define WAITING_STATE  "(queued|running|pending_retry|retrying)"
#define WAITING_STATES "^" WAITING_STATE "(," WAITING_STATE ")*$"
#define CAUSES                                                                                     \
    "\"terminal\",\"exhausted\",\"expired\",\"crash\",\"blocked\",\"unclassified\","               \
    "\"unroutable\",\"operator\",\"reported\",\"adopted\""
/* In JSON a number, true or false may stand for itself. */
#define WORD(text)                                                                                 \
    "{\"type\":[\"string\",\"number\",\"boolean\"]," LENGTH("1", "65536") "," PRINTABLE            \
                                                                          "," SAID(text) "}"
#define WHEN(text) ANY_OF(TIME "," MATCHING(DURATION), text)

#define FILTER(states)                                                                             \
    "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{" FIRST(                  \
        "state", MATCHING(states)) NEXT("category", WORD("only this category"))                    \
        NEXT("reason", WORD("reasons that start with this, also behind max_attempts:")) NEXT(      \
            "cause", ONE_OF(CAUSES, "only this cause")) NEXT("error_type",                         \
                                                             WORD("only this error type"))         \
            NEXT("task_type", WORD("only tasks of this type")) NEXT(                               \
                "fingerprint",                                                                     \
                MATCHING(FINGERPRINT)) NEXT("since", WHEN("from this time on, or so long ago"))    \
                NEXT("until", WHEN("before this time, or so long ago")) NEXT(                      \
                    "min_attempts",                                                                \
                    ANY_OF("{" OF("integer") "," RANGE("0", "4294967295") "}," MATCHING(           \
                               "^[0-9]{1,9}$"),                                                    \
                           "at least so many attempts")) NEXT("key", WORD("only this key"))        \
                    NEXT("q", WORD("full-text search; at least one letter or digit")) NEXT(        \
                        "where", "{" OF("string") "," LENGTH("1", "65536") "," PRINTABLE "," SAID( \
                                     "a jq program on the envelope") "}")                          \
                        NEXT("queue", WORD("only this queue; it must be one that there is"))       \
                            NEXT("dlq", WORD("only this DLQ; it must be one that there is"))       \
                                NEXT("escalated", ONE_OF("true,false,\"true\",\"false\"",          \
                                                         "only those that are, or are not")) "}}"

#define NO_FILTER "{\"type\":\"object\",\"maxProperties\":0}"
#define IDS       LIST(TEXT("1", "255", "of a letter or its message"), "1", "100000")
#define GROUP     MATCHING(FINGERPRINT)
#define NOT_ALL   "{\"const\":false}"
#define LIMIT                                                                                      \
    MAYBE_NUMBER("1", "9223372036854775807",                                                       \
                 "at most so many, the oldest unless order says otherwise; null: all")
#define ORDER  ONE_OF("\"oldest\",\"newest\"", "which of them a limit takes; only beside a limit")
#define CURSOR MAYBE_TEXT("0", "65536", "go on behind what an answer with a limit ended with")

/* One way of choosing: `also` narrows it down. */
#define BRANCH(also, members)                                                                      \
    "{\"type\":\"object\",\"additionalProperties\":false,\"dependentRequired\":{\"order\":["       \
    "\"limit\"]}," also ",\"properties\":{" members NEXT("limit", LIMIT) NEXT("order", ORDER) "}}"
/* By ids, by a filter or a group or both, or all. `more` is what the call has beside. */
#define CHOSEN(filter, more)                                                                       \
    BRANCH("\"required\":[\"ids\"]",                                                               \
           FIRST("ids", IDS) NEXT("filter", NO_FILTER) NEXT("all", NOT_ALL) more)                  \
    "," BRANCH("\"anyOf\":[{\"required\":[\"group\"]},{\"required\":[\"filter\"],\"properties\":{" \
               "\"filter\":{\"minProperties\":1}}}]",                                              \
               FIRST("filter", REF(filter)) NEXT("group", GROUP) NEXT("all", NOT_ALL)              \
                   more) "," BRANCH("\"required\":[\"all\"]", FIRST("all", "{\"const\":true}")     \
                                                                  NEXT("filter", NO_FILTER) more)
#define WHY(text) TEXT("1", "1024", text)
#define DECIDED(filter)                                                                            \
    "{\"anyOf\":[" CHOSEN(filter, NEXT("cursor", CURSOR)                                           \
                                      NEXT("why", WHY("for what is chosen, and for the audit"))    \
                                          NEXT("dry_run", BOOLEAN)) "]}"
/* A dry run needs no why. */
#define DECISION(filter)                                                                           \
    "{\"allOf\":[" DECIDED(filter) ",{\"anyOf\":[{\"required\":[\"why\"]},{"                       \
                                   "\"required\":[\"dry_run\"],\"properties\":{"                   \
                                   "\"dry_run\":{\"const\":true}}}]}]}"

#define REPLAY                                                                                     \
    NEXT("edit", "{" OR_NULL("string") "," LENGTH("1", "65536") "," SAID(                          \
                     "a jq program on the body of each letter") "}")                               \
    NEXT("to", MAYBE_TEXT("1", "255", "another queue, or origin: where each letter came from"))    \
    NEXT("rate", ANY_OF(MATCHING(RATE) NULL_TOO,                                                   \
                        "50/s, 15% of the usual traffic of the queue, or max; 50/s unless given")) \
    NEXT("canary", ANY_OF(BOOLEAN ",{" OF("integer") "," RANGE("1", "100000") "}," LIST(           \
                              "{" OF("integer") "," RANGE("1", "100000") "}", "0", "8") NULL_TOO,  \
                          "stages that must succeed first: [1, 10] unless given; false: none"))    \
    NEXT("ramp", MAYBE_BOOLEAN("false: at the full rate from the start"))                          \
    NEXT("stale", ONE_OF("\"send\",\"skip\",true,false,null", "send: stale letters too"))          \
    NEXT("when_version", ANY_OF(MATCHING(VERSION_RULE) NULL_TOO,                                   \
                                "such as >= 1.4: it waits until consumers are of that version"))   \
    NEXT("why", MAYBE_TEXT("0", "1024", "for the audit"))                                          \
    NEXT("dry_run", MAYBE_BOOLEAN("true unless given: the plan alone"))

#define EXPORT_TO                                                                                  \
    NEXT("cursor", CURSOR)                                                                         \
    NEXT("compress", ONE_OF("\"zstd\",\"none\",null", "of the answer"))                            \
    NEXT("to", MATCHING(FOLDER))

/* clang-format off */
const struct schema schema_requests[] = {
    {"LetterFilter", FILTER(STATES)},
    {"OpenFilter", FILTER(OPEN_STATES)},
    {"WaitingFilter", FILTER(WAITING_STATES)},
    {"RetryFilter", FILTER("^pending_retry$")},
    {"Push", "{\"oneOf\":[{\"required\":[\"body\"]},{\"required\":[\"body_base64\"]}],"
        "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        FIRST("body", ANY("any JSON; kept byte for byte"))
        NEXT("body_base64", MATCHING(BASE64))
        NEXT("content_type", TEXT("1", "255", "of the body; application/json unless it is raw"))
        NEXT("key", KEY)
        NEXT("headers", HEADERS)
        NEXT("id", MAYBE_TEXT("1", "255", "bytes; a UUIDv7 unless given"))
        NEXT("delay", ANY_OF("{" OF("integer") "," RANGE("0", "31536000000") "}," MATCHING(DELAY) NULL_TOO,
                             "a duration such as 5m, or a whole number of milliseconds; at most 365d"))
        "}}"},
    {"Report", "{\"anyOf\":[{\"required\":[\"task_id\"]},{\"required\":[\"id\"]}],"
        "\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        FIRST("task_id", TEXT("1", "255", "becomes the message's id; id does where it is missing"))
        NEXT("id", TEXT("1", "255", "of the runner's own entry; beside task_id it is kept as context.entry"))
        NEXT("task_type", MAYBE_TEXT("0", "255", "shown with the letter"))
        NEXT("payload", ANY("the message's body, any JSON; null unless given"))
        NEXT("attempts", MAYBE_NUMBER("1", "1000000", "made so far, the failed one included; 1 unless given"))
        NEXT("attempt_count", MAYBE_NUMBER("1", "1000000", "the same as attempts"))
        NEXT("max_attempts", MAYBE_NUMBER("1", "1000000", "instead of the policy's"))
        NEXT("max_retries", MAYBE_NUMBER("1", "1000000", "the same as max_attempts"))
        NEXT("last_attempted_at", ANY_OF(REPORT_TIMES, "when it failed; UTC without a zone; now unless given, and at the latest"))
        NEXT("failed_at", ANY_OF(REPORT_TIMES, "the same as last_attempted_at"))
        NEXT("first_attempted_at", ANY_OF(REPORT_TIMES, "when it was attempted first: the task is at least as old"))
        NEXT("created_at", ANY_OF(REPORT_TIMES, "when the task arrived, in the same form"))
        NEXT("resolved_at", "{\"type\":\"null\"}")
        NEXT("context", "{" OR_NULL("object") "," SAID("shown in the envelope") "}")
        NEXT("status", ANY_OF("{" OR_NULL("integer") "," RANGE("100", "599") "},"
                              "{\"enum\":[\"pending_retry\",\"retrying\",\"pending_review\"]}",
                              "the HTTP status of the failure, or the state of the runner's entry, kept as context.status"))
        NEXT("key", KEY)
        NEXT("headers", HEADERS)
        FAILURE_BUT_STATUS(NEXT) "}}"},
    {"LeaseAsk", ONLY("",
        FIRST("max", MAYBE_NUMBER("1", "1000", "messages at most; 1 unless given"))
        NEXT("wait_ms", MAYBE_NUMBER("0", "60000", "how long to wait for a message; 0 unless given"))
        NEXT("lease_ms", MAYBE_NUMBER("1", "43200000", "how long the lease runs; 30000 unless given"))
        NEXT("version", MAYBE_ANY_TEXT("of the worker: replays may wait for it; in its letters"))
        NEXT("consumer_instance", MAYBE_ANY_TEXT("the worker's name, in its letters")))},
    {"LeaseAck", ONLY("",
        FIRST("result", ANY("the answer, any JSON; kept where the queue keeps answers")))},
    {"LeaseFail", ONLY("", FAILURE(FIRST))},
    {"LeaseExtend", ONLY("", FIRST("lease_ms", LEASE_MS))},
    {"LeaseAnswers", "{\"description\":\"at most 1000 in all\",\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
        FIRST("ack", ANY_OF(LIST(ANY_OF(LEASE "," ONLY("\"lease\"",
            FIRST("lease", LEASE)
            NEXT("result", ANY("the answer, any JSON"))), "a lease, or one with its answer"), "0", "1000") NULL_TOO, "done"))
        NEXT("fail", ANY_OF(LIST(ANY_OF(LEASE "," ONLY("\"lease\"",
            FIRST("lease", LEASE)
            FAILURE(NEXT)), "a lease, or one with what went wrong"), "0", "1000") NULL_TOO, "failed"))
        NEXT("extend", ANY_OF(LIST(ANY_OF(LEASE "," ONLY("\"lease\"",
            FIRST("lease", LEASE)
            NEXT("lease_ms", LEASE_MS)), "a lease, or one with how long"), "0", "1000") NULL_TOO, "more time"))
        "}}"},
    {"Why", ONLY("",
        FIRST("why", MAYBE_TEXT("0", "255", "shown with the queue while it is paused")))},
    {"DlqWhy", ONLY("",
        FIRST("why", MAYBE_TEXT("0", "255", "for the audit")))},
    {"QueueRename", ONLY("\"to\"",
        FIRST("to", TEXT("1", "255", "another queue of the configuration"))
        NEXT("why", MAYBE_TEXT("0", "255", "for the audit")))},
    {"QueueRemove", ONLY("",
        FIRST("dry_run", BOOLEAN)
        NEXT("why", MAYBE_TEXT("0", "255", "for the audit")))},
    {"Ruling", ONLY("\"why\"",
        FIRST("why", WHY("for the letter and the audit")))},
    {"RulingMany", DECISION("OpenFilter")},
    {"RemovalMany", DECISION("WaitingFilter")},
    {"RetryNow", ONLY("",
        FIRST("why", WHY("for the audit")))},
    {"RetryMany", DECIDED("RetryFilter")},
    {"ReplayOrder", "{\"anyOf\":[" CHOSEN("OpenFilter", REPLAY) "]}"},
    {"ReplayWhy", ONLY("",
        FIRST("why", MAYBE_TEXT("0", "1024", "for the replay and the audit")))},
    {"AlertTest", ONLY("",
        FIRST("to", TEXT("0", "255", "a receiver's name; all of them unless given")))},
    {"GroupChange", ONLY("",
        FIRST("note", MAYBE_TEXT("0", "4096", "null takes it away"))
        NEXT("owner", MAYBE_TEXT("0", "255", "null takes it away"))
        NEXT("state", ONE_OF("\"open\",\"muted\",\"resolved\"", "open, muted or resolved"))
        NEXT("why", WHY("for the group and the audit")))},
    {"Export", "{\"description\":\"every letter, without a filter, a group or ids\",\"anyOf\":["
        BRANCH("\"required\":[]", FIRST("filter", NO_FILTER) NEXT("all", BOOLEAN) EXPORT_TO) ","
        CHOSEN("LetterFilter", EXPORT_TO) "]}"},
    {"ImportLine", "{" SAID("an envelope, as an export wrote it; a line that is none is counted in refused") "}"},
};
/* clang-format on */
const size_t schema_request_count = sizeof schema_requests / sizeof *schema_requests;
