#include "server/schema.h"

/* A schema is a C string that is put together from these. */
#define STRING        "{\"type\":\"string\"}"
#define NULLABLE      "{\"type\":[\"string\",\"null\"]}"
#define TIME          "{\"type\":[\"string\",\"null\"],\"format\":\"date-time\"}"
#define INTEGER       "{\"type\":\"integer\"}"
#define MAYBE_INTEGER "{\"type\":[\"integer\",\"null\"]}"
#define MAYBE_NUMBER  "{\"type\":[\"number\",\"null\"]}"
#define NUMBER        "{\"type\":\"number\"}"
#define BOOLEAN       "{\"type\":\"boolean\"}"
#define ANY_BYTES(more)                                                                            \
    "{\"description\":\"a text; an object with its base64 where it is none\",\"anyOf\":[" STRING   \
    ",{\"type\":\"object\",\"required\":[\"base64\"],\"properties\":{\"base64\":" STRING "}}" more \
    "]}"
#define HEADERS "{\"type\":\"object\",\"additionalProperties\":" ANY_BYTES("") "}"
#define HEADER_PAIRS                                                                               \
    "{\"description\":\"only if a name is repeated: all headers in order, as [name, value]\","     \
    "\"type\":\"array\",\"items\":{\"type\":\"array\",\"minItems\":2,\"maxItems\":2,"              \
    "\"prefixItems\":[" STRING "," ANY_BYTES("") "]}}"
#define KEY               ANY_BYTES(",{\"type\":\"null\"}")
#define COUNTS            "{\"type\":\"object\",\"additionalProperties\":" INTEGER "}"
#define ARRAY(items)      "{\"type\":\"array\",\"items\":" items "}"
#define REF(name)         "{\"$ref\":\"#/components/schemas/" name "\"}"
#define MAYBE(name)       "{\"anyOf\":[" REF(name) ",{\"type\":\"null\"}]}"
#define ANY(description)  "{\"description\":\"" description "\"}"
#define TEXT(description) "{\"type\":\"string\",\"description\":\"" description "\"}"
#define MAYBE_TEXT(description)                                                                    \
    "{\"type\":[\"string\",\"null\"],\"description\":\"" description "\"}"
#define COUNT(description)                                                                         \
    "{\"type\":\"integer\",\"minimum\":0,\"description\":\"" description "\"}"

#define FIRST(name, schema) "\"" name "\":" schema
#define NEXT(name, schema)  ",\"" name "\":" schema
#define OBJECT(members)     "{\"type\":\"object\",\"properties\":{" members "}}"

/* A page of what its path is the plural of. */
#define PAGE(plural, row)                                                                          \
    FIRST(plural, ARRAY(REF(row)))                                                                 \
    NEXT("cursor", NULLABLE)

/* What those who chose letters are told of the choice. */
#define LISTED(plural)                                                                             \
    NEXT("behind", COUNT("changes that the list does not show yet"))                               \
    NEXT("read_only", COUNT(plural " that were passed over, because their broker has them"))       \
    NEXT("damaged",                                                                                \
         ANY(plural " that cannot be read and were left out: ids in a list, else a count"))        \
    NEXT("skipped", COUNT(plural " on which the where program failed"))                            \
    NEXT("skipped_why", TEXT("how it failed on the first of them"))                                \
    NEXT("looked_at", COUNT(plural " that the where program looked at; the cursor goes on"))

/* clang-format off */
const struct schema schemas[] = {
    {"Problem", OBJECT(
        FIRST("type", STRING)
        NEXT("title", STRING)
        NEXT("status", INTEGER)
        NEXT("detail", TEXT("what is wrong, where, and what to do"))
        NEXT("instance", TEXT("the path that was asked for"))
        NEXT("line", COUNT("of the mistake, in NDJSON"))
        NEXT("state", TEXT("of a message without an answer, from /v1/results alone, as are those that follow"))
        NEXT("reason", NULLABLE)
        NEXT("letter", NULLABLE)
        NEXT("next_attempt_at", TIME))},
    {"Pushed", OBJECT(
        FIRST("ids", ARRAY(STRING))
        NEXT("duplicates", ARRAY(STRING)))},
    {"Judgement", OBJECT(
        FIRST("id", STRING)
        NEXT("state", STRING)
        NEXT("verdict", STRING)
        NEXT("reason", NULLABLE)
        NEXT("letter", TEXT("when it is dead"))
        NEXT("next_attempt_at", TIME)
        NEXT("attempt_count", COUNT("attempts so far; this and what follows to reports that use such a name"))
        NEXT("max_retries", COUNT("attempts that it has"))
        NEXT("last_attempted_at", TIME))},
    {"LeasedMessage", OBJECT(
        FIRST("id", STRING)
        NEXT("lease", TEXT("to answer with"))
        NEXT("attempt", COUNT("that this is, from 1"))
        NEXT("replay", COUNT("0 before the first replay"))
        NEXT("key", KEY)
        NEXT("headers", HEADERS)
        NEXT("header_pairs", HEADER_PAIRS)
        NEXT("content_type", STRING)
        NEXT("body", ANY("as JSON or text"))
        NEXT("body_base64", TEXT("when the body is not UTF-8"))
        NEXT("tombstone", BOOLEAN))},
    {"Leased", OBJECT(
        FIRST("messages", ARRAY(REF("LeasedMessage"))))},
    {"LeaseResult", OBJECT(
        FIRST("lease", STRING)
        NEXT("ok", BOOLEAN)
        NEXT("problem", REF("Problem")))},
    {"LeaseResults", OBJECT(
        FIRST("results", ARRAY(REF("LeaseResult"))))},
    {"QueueRenamed", OBJECT(
        FIRST("queue", TEXT("the new name"))
        NEXT("renamed_from", STRING)
        NEXT("messages", COUNT("that were moved: queued and pending_retry"))
        NEXT("letters", COUNT("that were moved, in any state"))
        NEXT("configured", BOOLEAN)
        NEXT("damaged", ARRAY(TEXT("of what cannot be read and stays in the old queue, an id; at most 100")))
        NEXT("damaged_count", COUNT("of those that cannot be read and stay")))},
    {"QueueRemoved", OBJECT(
        FIRST("queue", STRING)
        NEXT("removed", BOOLEAN)
        NEXT("messages", COUNT("that wait in it"))
        NEXT("letters", COUNT("of it that are unresolved"))
        NEXT("configured", BOOLEAN)
        NEXT("why", NULLABLE))},
    {"Breaker", OBJECT(
        FIRST("state", TEXT("closed, open or half_open"))
        NEXT("until", TIME))},
    {"Budget", OBJECT(
        FIRST("remaining_ratio", NUMBER))},
    {"Rates", OBJECT(
        FIRST("in_per_minute", INTEGER)
        NEXT("ok_per_minute", INTEGER)
        NEXT("failed_per_minute", INTEGER))},
    {"Queue", OBJECT(
        FIRST("queue", STRING)
        NEXT("state", TEXT("running, paused or halted"))
        NEXT("why", NULLABLE)
        NEXT("depth", COUNT("messages held and not dead: queued, pending_retry, and taken by the engine"))
        NEXT("in_flight", COUNT("in a handler's hands"))
        NEXT("pending_retry", COUNT("waiting for their next attempt"))
        NEXT("delayed", COUNT("pushed with a delay that is not over"))
        NEXT("breaker", REF("Breaker"))
        NEXT("budget", REF("Budget"))
        NEXT("lag", COUNT("at the source, not received yet"))
        NEXT("rates", REF("Rates"))
        NEXT("dlq_full", BOOLEAN)
        NEXT("awaiting_room", COUNT("of pending_retry: judged dead, and their DLQ is full"))
        NEXT("concurrency", "{\"type\":[\"integer\",\"null\"],\"description\":\"null: workers may lease any number\"}")
        NEXT("source", NULLABLE)
        NEXT("source_trouble", "{\"type\":[\"string\",\"null\"],\"description\":\"why nothing comes from it, in words\"}")
        NEXT("versions", ARRAY(STRING))
        NEXT("handler", NULLABLE))},
    {"Queues", OBJECT(
        PAGE("queues", "Queue")
        NEXT("adoptions", ARRAY(REF("Adoption"))))},
    {"Dlq", OBJECT(
        FIRST("dlq", STRING)
        NEXT("depth", COUNT("letters that wait for people or are being replayed"))
        NEXT("cap", MAYBE_INTEGER)
        NEXT("spilled", COUNT("letters that went to the archive for want of room"))
        NEXT("total", COUNT("letters that ever arrived"))
        NEXT("arrivals_per_minute", INTEGER)
        NEXT("oldest_age_seconds", MAYBE_NUMBER)
        NEXT("by_state", COUNTS)
        NEXT("by_category", COUNTS)
        NEXT("by_reason", COUNTS)
        NEXT("age_histogram", COUNTS)
        NEXT("owner", NULLABLE)
        NEXT("auto_fixed_percent", MAYBE_NUMBER)
        NEXT("escalated_percent", MAYBE_NUMBER)
        NEXT("triage", ARRAY(REF("TriageRule")))
        NEXT("adoptions", ARRAY(REF("Adoption"))))},
    {"DlqStates", OBJECT(
        FIRST("dlq", STRING)
        NEXT("by_state", COUNTS))},
    {"TriageRule", OBJECT(
        FIRST("rule", TEXT("the DLQ and the place of the rule: orders.dlq[0]"))
        NEXT("when", ANY("which letters, in the words of the configuration"))
        NEXT("do", TEXT("replay, archive, escalate, discard or compensate"))
        NEXT("every", TEXT("how often, as a duration"))
        NEXT("limit", COUNT("letters of a run"))
        NEXT("lifetime", TEXT("replay: how long after its first failure a letter is sent"))
        NEXT("rate", TEXT("replay: letters per second, or a share of the usual traffic"))
        NEXT("canary", ARRAY(INTEGER))
        NEXT("edit", TEXT("replay: the jq program that makes the new body"))
        NEXT("to", ANY("replay: another queue, or origin; escalate: receivers that are told"))
        NEXT("backoff", TEXT("the longest wait after runs that did not help"))
        NEXT("stop_after", COUNT("runs in a row that did not help"))
        NEXT("state", TEXT("waiting, running or stopped"))
        NEXT("why", MAYBE_TEXT("what its last run came to, where it did not help; why it stopped"))
        NEXT("last_run_at", TIME)
        NEXT("next_run_at", TIME)
        NEXT("replay", MAYBE_TEXT("the replay that it waits for"))
        NEXT("useless", COUNT("runs in a row that did not help"))
        NEXT("runs", COUNT("that took letters"))
        NEXT("letters", COUNTS)
        NEXT("fixed", COUNT("letters that it got resolved"))
        NEXT("failed", COUNT("letters that died again, or whose compensation failed"))
        NEXT("escalated", COUNT("letters that it left to people"))
        NEXT("ticket", MAYBE_TEXT("the escalation that receivers are being told of"))
        NEXT("ticket_letters", COUNT("letters of the ticket")))},
    {"Dlqs", OBJECT(
        PAGE("dlqs", "Dlq"))},
    {"Message", OBJECT(
        FIRST("id", STRING)
        NEXT("queue", STRING)
        NEXT("key", KEY)
        NEXT("headers", HEADERS)
        NEXT("header_pairs", HEADER_PAIRS)
        NEXT("content_type", STRING)
        NEXT("body", ANY("as JSON or text"))
        NEXT("body_base64", TEXT("when the body is not UTF-8"))
        NEXT("content_hash", TEXT("sha256: and hex, over the body's bytes"))
        NEXT("body_damaged", BOOLEAN)
        NEXT("body_file", TEXT("of a body larger than max_body: its file, beside the store"))
        NEXT("size", INTEGER))},
    {"Result", OBJECT(
        FIRST("id", STRING)
        NEXT("queue", STRING)
        NEXT("content_type", NULLABLE)
        NEXT("body", ANY("as JSON or text"))
        NEXT("body_base64", TEXT("when the answer is not UTF-8"))
        NEXT("at", TIME))},
    {"Failure", OBJECT(
        FIRST("kind", STRING)
        NEXT("status", MAYBE_INTEGER)
        NEXT("exit_code", MAYBE_INTEGER)
        NEXT("signal", MAYBE_INTEGER)
        NEXT("error_type", NULLABLE)
        NEXT("error_message", NULLABLE)
        NEXT("stack_trace", NULLABLE)
        NEXT("fingerprint", STRING)
        NEXT("retry_after_ms", MAYBE_INTEGER))},
    {"Attempt", OBJECT(
        FIRST("attempt", INTEGER)
        NEXT("at", TIME)
        NEXT("duration_ms", INTEGER)
        NEXT("verdict", NULLABLE)
        NEXT("category", NULLABLE)
        NEXT("error_type", NULLABLE)
        NEXT("error_message", NULLABLE)
        NEXT("delay_ms", MAYBE_INTEGER)
        NEXT("counted", BOOLEAN)
        NEXT("replay", INTEGER)
        NEXT("probe", BOOLEAN)
        NEXT("compensation", BOOLEAN))},
    {"Envelope", OBJECT(
        FIRST("id", NULLABLE)
        NEXT("dlq", NULLABLE)
        NEXT("state", STRING)
        NEXT("cause", NULLABLE)
        NEXT("category", NULLABLE)
        NEXT("reason", NULLABLE)
        NEXT("message", REF("Message"))
        NEXT("source", ANY("where it came from"))
        NEXT("failure", MAYBE("Failure"))
        NEXT("attempts", INTEGER)
        NEXT("max_attempts", INTEGER)
        NEXT("crashes", INTEGER)
        NEXT("probes", INTEGER)
        NEXT("replays", INTEGER)
        NEXT("history", ARRAY(REF("Attempt")))
        NEXT("created_at", TIME)
        NEXT("first_failure_at", TIME)
        NEXT("last_failure_at", TIME)
        NEXT("dead_at", TIME)
        NEXT("resolved_at", TIME)
        NEXT("resolution", NULLABLE)
        NEXT("consumer", ANY("instance and version"))
        NEXT("task", ANY("id and type of a reported task"))
        NEXT("context", ANY("an object"))
        NEXT("owner", NULLABLE)
        NEXT("rule", NULLABLE)
        NEXT("first_attempt_at", TIME)
        NEXT("next_attempt_at", TIME)
        NEXT("escalated_at", TIME)
        NEXT("why", NULLABLE)
        NEXT("blocked_by", NULLABLE)
        NEXT("replay", NULLABLE)
        NEXT("replayed_at", TIME)
        NEXT("edited", BOOLEAN)
        NEXT("read_only", BOOLEAN)
        NEXT("to_origin", BOOLEAN) NEXT("refused", BOOLEAN)
        NEXT("original", ANY("its body before it was edited")))},
    {"Messages", OBJECT(
        PAGE("messages", "Envelope")
        LISTED("messages"))},
    {"Letters", OBJECT(
        PAGE("letters", "Envelope")
        LISTED("letters"))},
    {"Ruled", OBJECT(
        FIRST("action", TEXT("resolve, discard, escalate, compensate, bury or retry"))
        NEXT("dry_run", BOOLEAN)
        NEXT("matched", COUNT("letters that were chosen"))
        NEXT("count", COUNT("of those, the ones that were changed, or would be"))
        NEXT("busy", COUNT("of those, the ones left alone: being replayed, or decided meanwhile"))
        NEXT("unable", COUNT("compensate: left alone, for their queue has no such handler"))
        NEXT("cursor", NULLABLE)
        NEXT("until", TEXT("of a dry run: a filter with this chooses the same, and nothing newer"))
        LISTED("letters"))},
    {"Replay", OBJECT(
        FIRST("id", STRING)
        NEXT("state", TEXT("planned, canary, ramp, running, waiting, paused, aborted or done"))
        NEXT("why", NULLABLE)
        NEXT("selected", COUNT("letters, frozen when it was made"))
        NEXT("sent", INTEGER)
        NEXT("resolved", INTEGER)
        NEXT("failed", COUNT("sent, and dead again"))
        NEXT("skipped", COUNT("not sent, and why: stale, edit failed, escalated …"))
        NEXT("outcomes", COUNTS)
        NEXT("created_at", TIME)
        NEXT("started_at", TIME)
        NEXT("ended_at", TIME)
        NEXT("filter", ANY("what its letters were chosen by"))
        NEXT("limit", MAYBE_INTEGER)
        NEXT("order", ANY("oldest or newest: which letters the limit took; of a plan: what was ordered"))
        NEXT("edit", NULLABLE)
        NEXT("to", NULLABLE)
        NEXT("rate", STRING)
        NEXT("canary", ARRAY(INTEGER))
        NEXT("ramp", BOOLEAN)
        NEXT("abort", ANY("true: it aborts by itself when letters come back dead; false: of a triage rule"))
        NEXT("stale", ANY("skip or send; of a plan: how many would be skipped"))
        NEXT("when_version", NULLABLE)
        NEXT("who", NULLABLE)
        NEXT("order_why", NULLABLE)
        NEXT("queues", ARRAY(STRING))
        NEXT("dlqs", ARRAY(STRING))
        NEXT("letters", ARRAY(ANY("id, queue, outcome and why of a letter")))
        NEXT("cursor", NULLABLE)
        NEXT("dry_run", ANY("of a plan: true"))
        NEXT("count", COUNT("of a plan: letters that would be sent"))
        NEXT("over_replayed", COUNT("of a plan: those that would be escalated instead"))
        NEXT("to_check", COUNT("of a plan: those whose freshness is asked for before they are sent"))
        NEXT("read_only", COUNT("of a plan: those that were passed over, because their broker has them"))
        NEXT("damaged", COUNT("of a plan: letters that cannot be read and were left out"))
        NEXT("until", TEXT("of a plan: a filter with this chooses the same, and nothing newer"))
        NEXT("groups", ARRAY(ANY("of a plan: fingerprint, count and sample")))
        NEXT("destinations", ARRAY(ANY("of a plan: queue, or origin, and count")))
        NEXT("samples", ARRAY(ANY("of a plan: id, message_id, queue, before, after and diff of a letter")))
        NEXT("estimated_seconds", NUMBER))},
    {"Replays", OBJECT(
        PAGE("replays", "Replay"))},
    {"Alert", OBJECT(
        FIRST("alert", TEXT("the rule's name"))
        NEXT("state", TEXT("pending or firing"))
        NEXT("severity", TEXT("info, warning or critical"))
        NEXT("metric", STRING)
        NEXT("subject", TEXT("the DLQ or queue; a group or reason of it behind a slash"))
        NEXT("value", NUMBER)
        NEXT("above", NUMBER)
        NEXT("below", NUMBER)
        NEXT("since", TIME)
        NEXT("fired_at", TIME)
        NEXT("told_at", TIME)
        NEXT("owed", COUNT("notices that are yet to be taken by their receivers, or to be noted as taken"))
        NEXT("summary", STRING)
        NEXT("owner", NULLABLE)
        NEXT("runbook", NULLABLE)
        NEXT("inhibited_by", "{\"type\":[\"string\",\"null\"],\"description\":\"the rule of greater severity that fires for the same subject: meanwhile nothing is told of this one\"}"))},
    {"AlertRule", OBJECT(
        FIRST("alert", TEXT("its name"))
        NEXT("severity", TEXT("info, warning or critical"))
        NEXT("metric", STRING)
        NEXT("subject", TEXT("a glob over DLQs or queues"))
        NEXT("above", NUMBER)
        NEXT("below", NUMBER)
        NEXT("for_seconds", NUMBER)
        NEXT("runbook", NULLABLE)
        NEXT("inhibited_by", NULLABLE)
        NEXT("to", ARRAY(TEXT("a receiver; none: all of them"))))},
    {"Adoption", OBJECT(
        FIRST("adopt", TEXT("the name of the entry"))
        NEXT("mode", TEXT("peek or take"))
        NEXT("dlq", STRING)
        NEXT("queue", NULLABLE)
        NEXT("state", TEXT("waiting, reading, done or refused"))
        NEXT("trouble", NULLABLE)
        NEXT("adopted", COUNT("letters that are new, in this life of the server"))
        NEXT("taken", COUNT("letters that were looked at before and are ours now"))
        NEXT("known", COUNT("dead letters that had been adopted before"))
        NEXT("last_at", TIME))},
    {"Adoptions", OBJECT(
        PAGE("adoptions", "Adoption"))},
    {"Alerts", OBJECT(
        PAGE("alerts", "Alert")
        NEXT("rules", ARRAY(REF("AlertRule"))))},
    {"AlertTested", OBJECT(
        FIRST("results", ARRAY(OBJECT(
            FIRST("to", STRING)
            NEXT("ok", BOOLEAN)
            NEXT("problem", STRING)))))},
    {"AuditEntry", OBJECT(
        FIRST("id", STRING)
        NEXT("at", TIME)
        NEXT("who", TEXT("as the caller named itself (Impound-Actor)"))
        NEXT("what", TEXT("resolve, discard, escalate, queue.pause, queue.resume, replay.start …"))
        NEXT("why", NULLABLE)
        NEXT("subject", NULLABLE)
        NEXT("filter", ANY("what letters were chosen by, or null"))
        NEXT("count", COUNT("letters that it changed"))
        NEXT("before", ANY("as it was"))
        NEXT("after", ANY("as it is")))},
    {"Audit", OBJECT(
        PAGE("audit", "AuditEntry"))},
    {"Group", OBJECT(
        FIRST("fingerprint", TEXT("16 hex digits"))
        NEXT("dlqs", ARRAY(STRING))
        NEXT("count", COUNT("unresolved letters"))
        NEXT("total", COUNT("letters that ever came"))
        NEXT("first_seen", TIME)
        NEXT("last_seen", TIME)
        NEXT("category", NULLABLE)
        NEXT("reason", NULLABLE)
        NEXT("error_type", NULLABLE)
        NEXT("error_message", NULLABLE)
        NEXT("rule", NULLABLE)
        NEXT("sample", ANY("the id of the newest letter; null when none is left that can be read"))
        NEXT("versions", ARRAY(STRING))
        NEXT("state", TEXT("open, muted or resolved"))
        NEXT("note", NULLABLE)
        NEXT("owner", NULLABLE)
        NEXT("why", NULLABLE)
        NEXT("changed_at", TIME)
        NEXT("returned_at", TIME)
        NEXT("arrivals", ARRAY(COUNT("letters that came in an hour; the last 24 hours, oldest first")))
        NEXT("damaged", ARRAY(TEXT("of one group alone: the id of a letter that cannot be read"))))},
    {"Groups", OBJECT(
        PAGE("groups", "Group")
        NEXT("damaged", ARRAY(TEXT("the id of a letter of these groups that cannot be read"))))},
    {"GroupRule", OBJECT(
        FIRST("yaml", TEXT("an entry for classify.rules")))},
    {"Exported", OBJECT(
        FIRST("letters", COUNT("that were written"))
        NEXT("folder", STRING)
        NEXT("archive", REF("Archive"))
        LISTED("letters"))},
    {"Imported", OBJECT(
        FIRST("lines", COUNT("that there were"))
        NEXT("imported", COUNT("letters that are held now"))
        NEXT("present", COUNT("letters that were held already"))
        NEXT("changed_count", COUNT("of those, the ones that are not as they were written"))
        NEXT("refused_count", COUNT("lines that could not be taken"))
        NEXT("changed", ARRAY(OBJECT(
            FIRST("line", INTEGER)
            NEXT("id", STRING)
            NEXT("state", STRING))))
        NEXT("refused", ARRAY(OBJECT(
            FIRST("line", INTEGER)
            NEXT("why", STRING)))))},
    {"Archive", OBJECT(
        FIRST("file", STRING)
        NEXT("dlq", NULLABLE)
        NEXT("letters", INTEGER)
        NEXT("bytes", INTEGER)
        NEXT("first_dead_at", TIME)
        NEXT("last_dead_at", TIME)
        NEXT("written_at", TIME)
        NEXT("sha256", TEXT("of the file"))
        NEXT("path", STRING))},
    {"Archives", OBJECT(
        PAGE("archives", "Archive"))},
    {"Explanation", OBJECT(
        FIRST("id", STRING)
        NEXT("queue", STRING)
        NEXT("state", STRING)
        NEXT("cause", NULLABLE)
        NEXT("summary", STRING)
        NEXT("steps", ARRAY(ANY("one attempt, in words")))
        NEXT("rule", ANY("the rule that decided"))
        NEXT("limits", ANY("the limits that applied")))},
    {"Totals", OBJECT(
        FIRST("depth", INTEGER)
        NEXT("in_flight", INTEGER)
        NEXT("pending_retry", INTEGER)
        NEXT("dlq_depth", INTEGER)
        NEXT("triage", COUNTS)
        NEXT("auto_fixed_percent", MAYBE_NUMBER)
        NEXT("escalated_percent", MAYBE_NUMBER)
        NEXT("rates", REF("Rates"))
        NEXT("attempts", COUNTS)
        NEXT("retries", INTEGER))},
    {"Stats", OBJECT(
        FIRST("at", TIME)
        NEXT("window", TEXT("the window that the rates are of"))
        NEXT("queues", ARRAY(ANY("a queue's rates and counters")))
        NEXT("dlqs", ARRAY(ANY("a DLQ's rates and counters")))
        NEXT("adoptions", ARRAY(REF("Adoption")))
        NEXT("totals", REF("Totals")))},
    {"Arrivals", OBJECT(
        FIRST("window", TEXT("1h, 24h or 7d"))
        NEXT("from", TIME)
        NEXT("step_seconds", COUNT("that one number is about"))
        NEXT("steps", COUNT("numbers of each category"))
        NEXT("categories", "{\"type\":\"object\",\"additionalProperties\":" ARRAY(COUNT("letters that arrived")) "}"))},
    {"Health", OBJECT(
        FIRST("status", STRING)
        NEXT("version", STRING)
        NEXT("payloads", TEXT("hidden: the dashboard shows bodies only when it is asked to")))},
    {"Halted", OBJECT(
        FIRST("queue", STRING)
        NEXT("why", STRING))},
    {"Ready", OBJECT(
        FIRST("status", STRING)
        NEXT("halted", ARRAY(REF("Halted")))
        NEXT("dlq_full", ARRAY(REF("Halted")))
        NEXT("stuck", ARRAY(REF("Halted"))))},
};
/* clang-format on */
const size_t schema_count = sizeof schemas / sizeof *schemas;
