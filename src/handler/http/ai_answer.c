/* ai_answer: walks the answer once and keeps the gravest finding. */
#include "handler/http/ai_answer.h"

#include <assert.h>

#include "base/json/json.h"
#include "core/outcome.h"
#include "handler/common/foreign_text.h"

/* In order of precedence: of several findings in one answer the last one listed here counts. */
enum finding { FINDING_NONE, FINDING_EMPTY, FINDING_REFUSAL, FINDING_BLOCKED, FINDING_ERROR };

/* State while reading an answer. */
struct ai_reading {
    struct arena *arena;
    enum finding finding;
    struct bytes words; /* the text behind the finding; for an error its JSON */
    bool ended;         /* a stream had its end mark */
    bool any;           /* a stream had any other event */
};

static void note(struct ai_reading *reading, enum finding finding, struct bytes words) {
    assert(finding <= FINDING_ERROR);
    if (finding <= reading->finding)
        return;
    reading->finding = finding;
    reading->words = words;
}

/* ---- members, looked up in one walk ---- */

static void get_members(struct json object, const char *const *names, size_t count,
                        struct json *out) {
    for (size_t i = 0; i < count; i++)
        out[i] = (struct json){.type = JSON_NULL};
    if (object.type != JSON_OBJECT)
        return;
    for (struct json_walk walk = json_walk(object); json_step(&walk);)
        for (size_t i = 0; i < count; i++)
            if (json_key_is(walk.key, names[i]))
                out[i] = walk.value;
}

static struct json member(struct json object, const char *name) {
    struct json value;
    if (object.type == JSON_OBJECT && json_get(object, name, &value))
        return value;
    return (struct json){.type = JSON_NULL};
}

static struct bytes text_of(struct json value, struct arena *arena) {
    struct bytes text;
    return json_string(value, arena, &text) ? text : BYTES_NONE;
}

static bool is_word(struct json value, const char *const *words, struct arena *arena) {
    struct bytes text = text_of(value, arena);
    for (; text.len && *words; words++)
        if (bytes_eq_nocase(text, bytes_of(*words)))
            return true;
    return false;
}

static bool has_items(struct json value) {
    struct json_walk walk = json_walk(value);
    return json_step(&walk);
}

static bool is_empty_list(struct json value) {
    return value.type == JSON_ARRAY && !has_items(value);
}

/* {"error":null}, {"error":""} and {"error":{}} mean no error. */
static bool says_error(struct json error) {
    if (error.type == JSON_STRING)
        return error.text.len > 2; /* more than its quotes */
    return error.type == JSON_TRUE || has_items(error);
}

/* Whether a value is not empty. */
static bool has_content(struct json value) {
    if (value.type == JSON_STRING)
        return value.text.len > 2;
    if (value.type == JSON_ARRAY || value.type == JSON_OBJECT)
        return has_items(value);
    return value.type != JSON_NULL;
}

/* ---- why a model stopped ---- */

static const char *const blocking[] = {"content_filter",
                                       "content_filtered",
                                       "guardrail_intervened",
                                       "safety",
                                       "recitation",
                                       "blocklist",
                                       "prohibited_content",
                                       "spii",
                                       "image_safety",
                                       "error_toxic",
                                       "image_prohibited_content",
                                       "image_recitation",
                                       "model_armor",
                                       NULL};
static const char *const refusing[] = {"refusal", NULL};
static const char *const failing[] = {"error", NULL};

/* The finding for a stop reason. */
static enum finding stop_finding(struct json reason, struct arena *arena) {
    if (is_word(reason, blocking, arena))
        return FINDING_BLOCKED;
    if (is_word(reason, refusing, arena))
        return FINDING_REFUSAL;
    return is_word(reason, failing, arena) ? FINDING_ERROR : FINDING_NONE;
}

/* ---- lists of answers: choices, candidates, results ---- */

/* One of several answers: it has content, or a finding that explains why not. */
struct variant {
    enum finding finding;
    struct bytes words;
    bool has_content;
    bool ended;
};

static const char *const choice_names[] = {"finish_reason", "message", "delta", "text", "error"};
static const char *const message_names[] = {
    "content",           "tool_calls", "function_call", "audio",
    "reasoning_content", "reasoning",  "images",        "refusal"};
enum { MESSAGE_REFUSAL = 7, MESSAGE_NAMES = 8 };

static struct variant read_choice(struct json choice, struct arena *arena) {
    struct json at[5], said[MESSAGE_NAMES];
    struct variant variant = {0};
    get_members(choice, choice_names, 5, at);
    struct json message = at[1].type == JSON_OBJECT ? at[1] : at[2];
    get_members(message, message_names, MESSAGE_NAMES, said);
    for (size_t i = 0; i < MESSAGE_REFUSAL; i++)
        variant.has_content |= has_content(said[i]);
    variant.has_content |= has_content(at[3]);
    variant.has_content |=
        message.type != JSON_OBJECT && at[3].type == JSON_NULL; /* unknown shape */
    variant.ended = at[0].type == JSON_STRING;
    variant.finding = stop_finding(at[0], arena);
    variant.words = text_of(at[0], arena);
    if (variant.finding < FINDING_REFUSAL && has_content(said[MESSAGE_REFUSAL])) {
        variant.finding = FINDING_REFUSAL;
        variant.words = text_of(said[MESSAGE_REFUSAL], arena);
    }
    if (says_error(at[4]) || variant.finding == FINDING_ERROR) {
        variant.finding = FINDING_ERROR;
        variant.words = says_error(at[4]) ? choice.text : BYTES_NONE;
    }
    return variant;
}

static struct variant read_candidate(struct json candidate, struct arena *arena) {
    static const char *const names[] = {"finishReason", "content"};
    struct json at[2];
    get_members(candidate, names, 2, at);
    return (struct variant){.finding = stop_finding(at[0], arena),
                            .words = text_of(at[0], arena),
                            .has_content = has_content(member(at[1], "parts")),
                            .ended = at[0].type == JSON_STRING};
}

static struct variant read_result(struct json result, struct arena *arena) {
    struct json reason = member(result, "completionReason");
    return (struct variant){.finding = stop_finding(reason, arena),
                            .words = text_of(reason, arena),
                            .has_content = true};
}

/* One successful variant makes the answer a success; an error in one variant is an error of the
 * whole. */
static void read_variants(struct json list, bool stream,
                          struct variant (*read)(struct json, struct arena *),
                          struct ai_reading *reading) {
    struct variant worst = {0};
    bool well = false, content = false;
    if (list.type != JSON_ARRAY)
        return;
    for (struct json_walk walk = json_walk(list); json_step(&walk);) {
        struct variant variant = read(walk.value, reading->arena);
        well |= variant.finding == FINDING_NONE;
        content |= variant.has_content;
        reading->ended |= variant.ended;
        if (variant.finding > worst.finding)
            worst = variant;
    }
    if (worst.finding == FINDING_ERROR || (worst.finding && (!well || stream)))
        note(reading, worst.finding, worst.words);
    else if (!content && !stream)
        note(reading, FINDING_EMPTY, BYTES_NONE);
}

/* ---- one object: a whole answer, or an event of a stream ---- */

enum top {
    TOP_ERROR,
    TOP_TYPE,
    TOP_OBJECT,
    TOP_CHOICES,
    TOP_CANDIDATES,
    TOP_FEEDBACK,
    TOP_USAGE,
    TOP_STOP_REASON,
    TOP_STOP_REASON_2,
    TOP_FINISH_REASON,
    TOP_CONTENT,
    TOP_DELTA,
    TOP_OUTPUT,
    TOP_RESULTS,
    TOP_GUARDRAIL,
    TOP_INCOMPLETE,
    TOP_RESPONSE,
    TOP_DATA,
    TOP_DONE,
    TOP_FINISHED,
    TOP_MESSAGE,
    TOP_COUNT
};

static const char *const top_names[TOP_COUNT] = {"error",
                                                 "type",
                                                 "object",
                                                 "choices",
                                                 "candidates",
                                                 "promptFeedback",
                                                 "usageMetadata",
                                                 "stop_reason",
                                                 "stopReason",
                                                 "finish_reason",
                                                 "content",
                                                 "delta",
                                                 "output",
                                                 "results",
                                                 "amazon-bedrock-guardrailAction",
                                                 "incomplete_details",
                                                 "response",
                                                 "data",
                                                 "done",
                                                 "is_finished",
                                                 "message"};

static bool is(struct json value, const char *text, struct arena *arena) {
    return bytes_is(text_of(value, arena), text);
}

static void read_stop(struct json reason, struct json whole, struct ai_reading *reading) {
    enum finding finding = stop_finding(reason, reading->arena);
    note(reading, finding, finding == FINDING_ERROR ? whole.text : text_of(reason, reading->arena));
}

/* OpenAI's responses: {"object":"response","output":[{"content":[{"type":"refusal"}]}]} */
static void read_output(struct json output, struct ai_reading *reading) {
    bool refused = false, said = false;
    struct bytes words = BYTES_NONE;
    for (struct json_walk items = json_walk(output); json_step(&items);) {
        struct json content = member(items.value, "content");
        said |= content.type == JSON_NULL; /* a tool call or reasoning */
        for (struct json_walk parts = json_walk(content); json_step(&parts);) {
            bool refusal = is(member(parts.value, "type"), "refusal", reading->arena);
            refused |= refusal;
            said |= !refusal;
            if (refusal)
                words = text_of(member(parts.value, "refusal"), reading->arena);
        }
    }
    if (refused && !said)
        note(reading, FINDING_REFUSAL, words);
}

static bool is_anthropic(const struct json *top, struct arena *arena) {
    return is(top[TOP_TYPE], "message", arena) && top[TOP_CONTENT].type == JSON_ARRAY;
}

/* Known shapes whose result is empty. */
static void read_emptiness(const struct json *top, struct ai_reading *reading) {
    struct arena *arena = reading->arena;
    bool listed = is(top[TOP_OBJECT], "list", arena);
    struct json bedrock = member(top[TOP_OUTPUT], "message");
    if (is_empty_list(top[TOP_CHOICES]) || is_empty_list(top[TOP_CANDIDATES]) ||
        (top[TOP_CANDIDATES].type == JSON_NULL && top[TOP_USAGE].type == JSON_OBJECT) ||
        (is_anthropic(top, arena) && is_empty_list(top[TOP_CONTENT])) ||
        (is(top[TOP_OBJECT], "response", arena) && is_empty_list(top[TOP_OUTPUT])) ||
        (listed && is_empty_list(top[TOP_DATA])) ||
        (bedrock.type == JSON_OBJECT && is_empty_list(member(bedrock, "content"))) ||
        (top[TOP_FINISH_REASON].type == JSON_STRING && top[TOP_MESSAGE].type == JSON_OBJECT &&
         is_empty_list(member(top[TOP_MESSAGE], "content")) &&
         !has_content(member(top[TOP_MESSAGE], "tool_calls"))))
        note(reading, FINDING_EMPTY, BYTES_NONE);
}

/* Events that end a stream, by their `type` or by the name of the event. */
static const char *const ends[] = {"message_stop",
                                   "response.completed",
                                   "response.incomplete",
                                   "message-end",
                                   "stream-end",
                                   "done",
                                   NULL};
static const char *const errors[] = {"error", "response.failed", NULL};

static bool is_true(struct json value) {
    return value.type == JSON_TRUE;
}

static void read_object(struct json object, bool stream, struct ai_reading *reading) {
    struct json top[TOP_COUNT];
    struct arena *arena = reading->arena;
    get_members(object, top_names, TOP_COUNT, top);
    if (says_error(top[TOP_ERROR]) || is(top[TOP_OBJECT], "error", arena) ||
        (stream && is_word(top[TOP_TYPE], errors, arena)))
        note(reading, FINDING_ERROR, object.text);
    struct json block = member(top[TOP_FEEDBACK], "blockReason");
    if (has_content(block) && !is(block, "BLOCK_REASON_UNSPECIFIED", arena))
        note(reading, FINDING_BLOCKED, text_of(block, arena));
    if (is(top[TOP_GUARDRAIL], "INTERVENED", arena))
        note(reading, FINDING_BLOCKED, BYTES("guardrail"));
    read_variants(top[TOP_CHOICES], stream, read_choice, reading);
    read_variants(top[TOP_CANDIDATES], stream, read_candidate, reading);
    read_variants(top[TOP_RESULTS], true, read_result, reading);
    read_stop(top[TOP_STOP_REASON], object, reading);
    read_stop(top[TOP_STOP_REASON_2], object, reading);
    read_stop(top[TOP_FINISH_REASON], object, reading);
    read_stop(member(top[TOP_DELTA], "stop_reason"), object, reading);
    read_stop(member(top[TOP_DELTA], "finish_reason"), object, reading);
    read_stop(member(top[TOP_INCOMPLETE], "reason"), object, reading);
    read_stop(member(member(top[TOP_RESPONSE], "incomplete_details"), "reason"), object, reading);
    if (is(top[TOP_OBJECT], "response", arena))
        read_output(top[TOP_OUTPUT], reading);
    if (!stream)
        read_emptiness(top, reading);
    reading->ended |= is_word(top[TOP_TYPE], ends, arena) || is_true(top[TOP_DONE]) ||
                      is_true(top[TOP_FINISHED]) || has_content(block);
}

/* Gemini answers a stream request without event-stream format with a list of the events. */
static void read_whole(struct json value, struct ai_reading *reading) {
    if (value.type != JSON_ARRAY) {
        read_object(value, false, reading);
        return;
    }
    for (struct json_walk walk = json_walk(value); json_step(&walk);)
        if (walk.value.type == JSON_OBJECT)
            read_object(walk.value, true, reading);
}

/* ---- streams ---- */

static void read_data(struct bytes data, struct ai_reading *reading) {
    struct json value;
    if (bytes_is(data, "[DONE]")) {
        reading->ended = true;
        return;
    }
    reading->any = true;
    if (json_parse(data, &value, NULL) == STATUS_OK && value.type == JSON_OBJECT)
        read_object(value, true, reading);
}

static bool is_listed(struct bytes word, const char *const *words) {
    for (; *words; words++)
        if (bytes_eq_nocase(word, bytes_of(*words)))
            return true;
    return false;
}

/* "event: …" names the "data: …" that follows. */
static void read_events(struct bytes body, struct ai_reading *reading) {
    struct bytes line, event = BYTES_NONE;
    while (bytes_line(&body, &line)) {
        line = bytes_trim(line);
        if (line.len == 0)
            event = BYTES_NONE;
        else if (bytes_starts(line, BYTES("event:")))
            event = bytes_trim(bytes_cut(line, sizeof "event:" - 1, line.len));
        else if (bytes_starts(line, BYTES("data:"))) {
            struct bytes data = bytes_trim(bytes_cut(line, sizeof "data:" - 1, line.len));
            read_data(data, reading);
            if (is_listed(event, errors))
                note(reading, FINDING_ERROR, data);
            reading->ended |= is_listed(event, ends);
        }
    }
}

static void read_lines(struct bytes body, struct ai_reading *reading) {
    struct bytes line;
    while (bytes_line(&body, &line))
        if (bytes_trim(line).len > 0)
            read_data(bytes_trim(line), reading);
}

/* ---- the result ---- */

/* The status that providers use for such errors, where they use one. */
static const struct {
    const char *type; /* glob, case ignored */
    int status;
} statuses[] = {
    {"overloaded*", 529},
    {"rate_limit*", 429},
    {"insufficient_quota", 429},
    {"requests", 429},
    {"tokens", 429},
    {"resource_exhausted", 429},
    {"throttling*", 429},
    {"modelnotready*", 429},
    {"too_many_requests", 429},
    {"billing*", 402},
    {"authentication*", 401},
    {"invalid_api_key", 401},
    {"unauthenticated", 401},
    {"permission*", 403},
    {"accessdenied*", 403},
    {"not_found*", 404},
    {"model_not_found", 404},
    {"resourcenotfound*", 404},
    {"notfounderror", 404},
    {"request_too_large", 413},
    {"invalid_request*", 400},
    {"invalid_argument", 400},
    {"failed_precondition", 400},
    {"out_of_range", 400},
    {"badrequest*", 400},
    {"validation*", 400},
    {"context_length*", 400},
    {"servicequotaexceeded*", 400},
    {"aborted", 409},
    {"already_exists", 409},
    {"cancelled", 499},
    {"timeout*", 408},
    {"modeltimeout*", 408},
    {"modelerror*", 424},
    {"modelstreamerror*", 424},
    {"unavailable", 503},
    {"serviceunavailable*", 503},
    {"service_unavailable*", 503},
    {"deadline_exceeded", 504},
};
enum { STATUS_UNKNOWN = 500, STATUS_ERRORS_FROM = 400, STATUS_ERRORS_TO = 599 };

static int status_of_number(struct bytes text) {
    uint64_t number;
    bool good =
        bytes_u64(text, &number) && number >= STATUS_ERRORS_FROM && number <= STATUS_ERRORS_TO;
    return good ? (int)number : 0;
}

/* {"error":{"code":429,…}}: a number is the status itself. */
static int status_of_code(struct json value, struct arena *arena) {
    struct json error = member(value, "error");
    struct json code = member(error.type == JSON_OBJECT ? error : value, "code");
    return status_of_number(code.type == JSON_NUMBER ? code.text : text_of(code, arena));
}

static int status_of_type(struct bytes type) {
    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
        if (bytes_glob(bytes_of(statuses[i].type), type))
            return statuses[i].status;
    int status = status_of_number(type);
    return status ? status : STATUS_UNKNOWN;
}

static void say_error(const struct ai_reading *reading, struct ai_answer *out) {
    struct json value;
    problem_read(reading->words, reading->arena, &out->problem);
    if (out->problem.error_message.len == 0)
        out->problem.error_message = BYTES("the answer contains an error without a message");
    if (json_parse(reading->words, &value, NULL) == STATUS_OK)
        out->status = status_of_code(value, reading->arena);
    if (out->status == 0)
        out->status = status_of_type(out->problem.error_type);
}

static void say(const char *type, struct bytes words, const char *otherwise, struct arena *arena,
                struct ai_answer *out) {
    out->problem.error_type = bytes_of(type);
    out->problem.error_message =
        words.len ? bytes_clip(text_safe(words, arena), OUTCOME_MESSAGE_MAX) : bytes_of(otherwise);
}

static void say_finding(const struct ai_reading *reading, struct ai_answer *out) {
    struct arena *arena = reading->arena;
    *out = (struct ai_answer){.problem = {.retry_after_ms = -1}};
    if (reading->finding == FINDING_ERROR)
        say_error(reading, out);
    else if (reading->finding == FINDING_BLOCKED)
        say(OUTCOME_BLOCKED, reading->words, "content_filter", arena, out);
    else if (reading->finding == FINDING_REFUSAL)
        say(OUTCOME_REFUSAL, reading->words, "refusal", arena, out);
    else
        say(OUTCOME_EMPTY_ANSWER, BYTES_NONE, "the answer has no content", arena, out);
}

/* An error within a stream has cut the stream short, whatever its type. */
static bool judge_stream(struct ai_reading *reading, bool cut, struct ai_answer *out) {
    if (reading->finding == FINDING_ERROR) {
        struct ai_answer error;
        say_finding(reading, &error);
        *out = error;
        out->status = 0;
        out->problem.error_type = BYTES(OUTCOME_CUT_STREAM);
        return true;
    }
    if (!reading->any && !cut)
        note(reading, FINDING_EMPTY, BYTES_NONE);
    if (reading->finding != FINDING_NONE) {
        say_finding(reading, out);
        return true;
    }
    if (reading->ended || cut)
        return false;
    *out = (struct ai_answer){.problem = {.retry_after_ms = -1}};
    say(OUTCOME_CUT_STREAM, BYTES_NONE, "the stream ended without its end mark", reading->arena,
        out);
    return true;
}

/* ---- forms ---- */

enum form { FORM_OTHER, FORM_JSON, FORM_EVENTS, FORM_LINES };

static enum form form_of(struct bytes content_type) {
    struct bytes type =
        bytes_trim(bytes_cut(content_type, 0, bytes_find(content_type, BYTES(";"))));
    if (bytes_eq_nocase(type, BYTES("text/event-stream")))
        return FORM_EVENTS;
    if (bytes_eq_nocase(type, BYTES("application/x-ndjson")) ||
        bytes_eq_nocase(type, BYTES("application/jsonl")))
        return FORM_LINES;
    bool json = bytes_eq_nocase(type, BYTES("application/json")) ||
                bytes_eq_nocase(type, BYTES("text/json")) || bytes_glob(BYTES("*+json"), type);
    return json ? FORM_JSON : FORM_OTHER;
}

static bool judge_json(struct bytes body, bool cut, struct ai_reading *reading,
                       struct ai_answer *out) {
    struct json value;
    if (bytes_trim(body).len == 0)
        note(reading, FINDING_EMPTY, BYTES_NONE);
    else if (!cut && json_parse(body, &value, NULL) == STATUS_OK)
        read_whole(value, reading);
    if (reading->finding == FINDING_NONE)
        return false;
    say_finding(reading, out);
    return true;
}

bool ai_answer_faulty(struct bytes body, bool cut, struct bytes content_type, struct arena *arena,
                      struct ai_answer *out) {
    struct ai_reading reading = {.arena = arena};
    switch (form_of(content_type)) {
    case FORM_JSON:
        return judge_json(body, cut, &reading, out);
    case FORM_EVENTS:
        read_events(body, &reading);
        return judge_stream(&reading, cut, out);
    case FORM_LINES:
        read_lines(body, &reading);
        return judge_stream(&reading, cut, out);
    case FORM_OTHER:
        break;
    }
    return false;
}
