/* problem_body: every known format is an object with type, message and stack under one of a few
 * names, possibly wrapped: in a list, under "error", under "errors". So the reader unwraps first,
 * then looks the names up in three tables; inner objects take precedence. */
#include "handler/http/problem_body.h"

#include "base/text/ascii.h"
#include "base/json/json.h"
#include "core/outcome.h"
#include "core/trace/trace.h"
#include "handler/http/retry_after.h"
#include "handler/common/foreign_text.h"

enum { PROBLEM_WRAPS_MAX = 4 };                  /* levels of wrappers */
#define DELAY_MAX_MS (INT64_C(1000) * INT32_MAX) /* a longer delay counts as a mistake */

/* First match wins. "type" is not here: it may be a URI, see type_of. */
static const char *const type_names[] = {"error_type", "errorType", "__type", "code",
                                         "status",     "name",      NULL};
static const char *const message_names[] = {"message", "error_message", "errorMessage",
                                            "detail",  "description",   "error_description",
                                            "msg",     "title",         NULL};
static const char *const stack_names[] = {"stack_trace", "stack", "trace", "stackTrace", NULL};
static const char *const wrapper_names[] = {"error", "errors", "detail", "message", NULL};
/* Types that add nothing to the status: a code beside them is more precise. */
static const char *const vague_types[] = {"invalid_request_error", "requests", "tokens",
                                          "image_generation_user_error", NULL};

static bool string_member(struct json object, const char *name, struct arena *arena,
                          struct bytes *out) {
    struct json value;
    return json_get(object, name, &value) && json_string(value, arena, out) && out->len > 0;
}

static struct bytes first_string(struct json object, const char *const *names,
                                 struct arena *arena) {
    struct bytes text;
    for (; *names; names++) {
        if (string_member(object, *names, arena, &text))
            return text;
    }
    return BYTES_NONE;
}

/* "https://errors.example/out-of-credit/" → "out-of-credit"; "about:blank" is no type. */
static struct bytes last_segment(struct bytes type) {
    if (bytes_is(type, "about:blank"))
        return BYTES_NONE;
    while (type.len > 0 && type.ptr[type.len - 1] == '/')
        type.len--;
    size_t begin = type.len;
    while (begin > 0 && type.ptr[begin - 1] != '/' && type.ptr[begin - 1] != '#')
        begin--;
    return bytes_cut(type, begin, type.len);
}

static bool is_vague(struct bytes type) {
    for (const char *const *vague = vague_types; *vague; vague++) {
        if (bytes_is(type, *vague))
            return true;
    }
    return false;
}

/* {"type":"invalid_request_error","code":"model_not_found"}; a numeric code adds nothing. */
static struct bytes more_precise(struct json object, struct bytes type, struct arena *arena) {
    struct bytes code;
    if (is_vague(type) && string_member(object, "code", arena, &code) &&
        !ascii_is_digit(code.ptr[0]))
        return code;
    return type;
}

/* {"metadata":{"flagged_input":"…","reasons":[…]}}: OpenRouter sends this with a 403. */
static bool is_moderated(struct json object) {
    struct json metadata, flagged;
    return json_get(object, "metadata", &metadata) && metadata.type == JSON_OBJECT &&
           json_get(metadata, "flagged_input", &flagged);
}

static struct bytes type_of(struct json object, struct arena *arena) {
    struct bytes type = BYTES_NONE;
    if (is_moderated(object))
        return BYTES("moderation");
    if (string_member(object, "type", arena, &type))
        type = more_precise(object, last_segment(type), arena);
    if (type.len == 0)
        type = first_string(object, type_names, arena);
    if (type.len == 0)
        string_member(object, "title", arena, &type);
    struct json code;
    if (type.len == 0 && json_get(object, "code", &code) && code.type == JSON_NUMBER)
        type = code.text;
    return type;
}

/* {"error":"text"}: if there is also a message, the text is the type. */
static void read_error_text(struct json object, struct arena *arena, struct problem *out) {
    struct bytes text;
    if (!string_member(object, "error", arena, &text))
        return;
    if (out->error_message.len == 0)
        out->error_message = text;
    else if (out->error_type.len == 0)
        out->error_type = text;
}

/* Fills the members that are still empty. */
static void read_object(struct json object, struct arena *arena, struct problem *out) {
    if (out->error_type.len == 0)
        out->error_type = type_of(object, arena);
    if (out->error_message.len == 0)
        out->error_message = first_string(object, message_names, arena);
    if (out->stack_trace.len == 0)
        out->stack_trace = first_string(object, stack_names, arena);
    read_error_text(object, arena, out);
}

/* The first element of a list, or the member of an object that holds the error itself. */
static bool unwrap(struct json value, struct json *out) {
    if (value.type == JSON_ARRAY) {
        struct json_walk walk = json_walk(value);
        bool any = json_step(&walk);
        *out = walk.value;
        return any;
    }
    for (const char *const *name = wrapper_names; *name; name++) {
        if (json_get(value, *name, out) && (out->type == JSON_OBJECT || out->type == JSON_ARRAY))
            return true;
    }
    return false;
}

/* {"details":[{"@type":"…/google.rpc.RetryInfo","retryDelay":"34.07s"}]}: rounded up to seconds. */
static int64_t retry_after_ms(struct json object, struct arena *arena) {
    struct json details;
    struct bytes delay;
    if (!json_get(object, "details", &details))
        return -1;
    for (struct json_walk walk = json_walk(details); json_step(&walk);) {
        int64_t ms;
        if (string_member(walk.value, "retryDelay", arena, &delay) &&
            retry_after_duration(delay, &ms))
            return ms <= DELAY_MAX_MS ? (ms + 999) / 1000 * 1000 : -1;
    }
    return -1;
}

/* A layer between the outermost object and the error itself may have the type and the retry delay:
 * {"error":{"status":"RESOURCE_EXHAUSTED","errors":[{"message":"…"}]}}. */
static void read_between(struct json object, struct arena *arena, struct problem *out) {
    if (out->error_type.len == 0)
        out->error_type = type_of(object, arena);
    if (out->retry_after_ms < 0)
        out->retry_after_ms = retry_after_ms(object, arena);
}

static void read_json(struct json outer, struct arena *arena, struct problem *out) {
    struct json layers[PROBLEM_WRAPS_MAX + 1] = {outer};
    int last = 0;
    while (last < PROBLEM_WRAPS_MAX && unwrap(layers[last], &layers[last + 1]))
        last++;
    if (layers[last].type == JSON_STRING)
        json_string(layers[last], arena, &out->error_message);
    else
        read_object(layers[last], arena, out);
    for (int i = last; i > 0; i--)
        read_between(layers[i], arena, out);
    if (out->error_message.len == 0)
        read_object(outer, arena, out);
    if (out->stack_trace.len == 0)
        out->stack_trace = first_string(outer, stack_names, arena);
}

/* Clip last: clipping needs UTF-8, and replacing invalid bytes makes a text longer. */
static struct bytes fit(struct bytes text, size_t max, struct arena *arena) {
    return bytes_clip(text_safe(text, arena), max);
}

void problem_read(struct bytes body, struct arena *arena, struct problem *out) {
    *out = (struct problem){.retry_after_ms = -1};
    struct json value;
    if (body.len > 0 && json_parse(body, &value, NULL) == STATUS_OK)
        read_json(value, arena, out);
    if (out->error_message.len == 0)
        out->error_message = bytes_trim(body);
    out->error_type = fit(out->error_type, OUTCOME_TYPE_MAX, arena);
    out->error_message = fit(out->error_message, OUTCOME_MESSAGE_MAX, arena);
    out->stack_trace = trace_tail(text_safe(out->stack_trace, arena));
}
