/* http_request: see the header. */
#include "handler/http/http_request.h"

#include <stdlib.h>

#include "base/text/base64.h"
#include "base/text/http_field.h"
#include "handler/http/header_value.h"
#include "handler/common/item.h"

enum {
    HTTP_HEADER_LINE_MAX = 64 * 1024,  /* name and value */
    HTTP_ENCODED_NAMES_MAX = 8 * 1024, /* bytes of the value of Impound-Base64 */
};

#define OUR_PREFIX BYTES("Impound-")

/* Headers that frame or route the request, which is libcurl's work, or that the call already
 * determines. */
static const char *const reserved[] = {
    "Connection",
    "Content-Length",
    "Content-Type",
    "Expect",
    "Host",
    "Keep-Alive",
    "Proxy-Authenticate",
    "Proxy-Authorization",
    "Proxy-Connection",
    "TE",
    "Trailer",
    "Transfer-Encoding",
    "Upgrade",
    NULL,
};
/* Of those, the ones that the configuration may set. */
static const char *const allowed_fixed[] = {"Content-Type", "Host", "Proxy-Authorization", NULL};

static bool is_listed(struct bytes name, const char *const *list) {
    for (; *list; list++) {
        if (bytes_eq_nocase(name, bytes_of(*list)))
            return true;
    }
    return false;
}

static bool is_ours(struct bytes name) {
    return bytes_eq_nocase(bytes_cut(name, 0, OUR_PREFIX.len), OUR_PREFIX);
}

static bool is_fixed(struct bytes name, const struct rule_header *fixed, size_t fixed_count) {
    for (size_t i = 0; i < fixed_count; i++) {
        if (bytes_eq_nocase(name, fixed[i].name))
            return true;
    }
    return false;
}

static struct curl_slist *append(struct curl_slist *list, const char *line) {
    struct curl_slist *longer = curl_slist_append(list, line);
    if (!longer)
        abort();
    return longer;
}

/* libcurl takes "Name;" for a header without a value, and "Name:" for one not to be sent. */
static struct curl_slist *add(struct curl_slist *list, struct bytes name, struct bytes value) {
    value = bytes_trim(value);
    if (!http_field_is_name(name) || !http_field_is_value(value))
        return list;
    struct buf line;
    buf_init_heap(&line, HTTP_HEADER_LINE_MAX);
    buf_bytes(&line, name);
    buf_str(&line, value.len ? ": " : ";");
    buf_bytes(&line, value);
    if (!line.overflow)
        list = append(list, buf_cstr(&line));
    buf_free(&line);
    return list;
}

/* ---- binary values ---- */

/* Names of the headers sent as base64: the value of Impound-Base64. */
struct encoded_names {
    char text[HTTP_ENCODED_NAMES_MAX];
    struct buf list;
};

static void encoded_add(struct encoded_names *names, struct bytes name) {
    if (names->list.len > 0)
        buf_str(&names->list, ", ");
    buf_bytes(&names->list, name);
}

/* A value that is not UTF-8, or not allowed in a header, is sent as base64. */
static struct curl_slist *add_any(struct curl_slist *list, struct bytes name, struct bytes value,
                                  struct encoded_names *names) {
    if (bytes_is_utf8(value) && http_field_is_value(bytes_trim(value)))
        return add(list, name, value);
    if (!http_field_is_name(name) || names->list.len + name.len + 2 >= HTTP_ENCODED_NAMES_MAX)
        return list;
    struct buf encoded;
    buf_init_heap(&encoded, HTTP_HEADER_LINE_MAX);
    base64_encode(value, &encoded);
    if (!encoded.overflow) {
        list = add(list, name, buf_view(&encoded));
        encoded_add(names, name);
    }
    buf_free(&encoded);
    return list;
}

static struct curl_slist *add_number(struct curl_slist *list, struct bytes name, uint32_t value) {
    char memory[16];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%u", value);
    return add(list, name, buf_view(&text));
}

static struct curl_slist *add_call(struct curl_slist *list, const struct call *call,
                                   struct encoded_names *names) {
    list = add(list, BYTES("Impound-Message-Id"), call->id);
    if (call->key.ptr)
        list = add_any(list, BYTES("Impound-Key"), call->key, names);
    if (call->tombstone)
        list = add(list, BYTES("Impound-Tombstone"), BYTES("true"));
    list = add_number(list, BYTES("Impound-Attempt"), call->attempt);
    list = add_number(list, BYTES("Impound-Replay"), call->replay);
    char at[INSTANT_TEXT_SIZE];
    if (call->first_attempt_at.ms != WALL_NEVER.ms)
        list = add(list, BYTES("Impound-First-Attempt-At"),
                   bytes_of(wall_text(call->first_attempt_at, at)));
    return list;
}

/* Facts of the single messages are in the body. */
static struct curl_slist *add_group(struct curl_slist *list, const struct call_group *group) {
    uint32_t attempt = 0;
    for (size_t i = 0; i < group->count; i++)
        if (group->calls[i]->attempt > attempt)
            attempt = group->calls[i]->attempt;
    list = add_number(list, BYTES("Impound-Batch"), (uint32_t)group->count);
    return add_number(list, BYTES("Impound-Attempt"), attempt);
}

static struct curl_slist *add_ours(struct curl_slist *list, struct task task,
                                   struct encoded_names *names) {
    const struct call *first = task_at(task, 0);
    list = add(list, BYTES("Impound-Queue"), first->queue);
    if (first->fallback > 0)
        list = add_number(list, BYTES("Impound-Fallback"), first->fallback);
    return task.call ? add_call(list, task.call, names) : add_group(list, task.group);
}

/* Without one, libcurl would declare the body a form. */
static struct curl_slist *add_content_type(struct curl_slist *list, struct bytes content_type) {
    content_type = bytes_trim(content_type);
    if (content_type.len == 0 || !http_field_is_value(content_type))
        return append(list, "Content-Type:");
    return add(list, BYTES("Content-Type"), content_type);
}

static struct curl_slist *add_own(struct curl_slist *list, const struct call *call,
                                  const struct rule_header *fixed, size_t fixed_count,
                                  struct encoded_names *names) {
    for (size_t i = 0; i < call->header_count; i++) {
        struct bytes name = call->headers[i].name;
        if (!is_listed(name, reserved) && !is_ours(name) && !is_fixed(name, fixed, fixed_count))
            list = add_any(list, name, call->headers[i].value, names);
    }
    return list;
}

/* For a batch the value is the same for all messages: the configuration ensures that. */
static struct curl_slist *add_fixed(struct curl_slist *list, const struct call *call,
                                    const struct rule_header *header, struct encoded_names *names) {
    struct buf value;
    buf_init_heap(&value, HTTP_HEADER_LINE_MAX);
    if (header_value_put(header->value, call, &value) && !value.overflow)
        list = add_any(list, header->name, buf_view(&value), names);
    buf_free(&value);
    return list;
}

struct curl_slist *http_request_headers(struct task task, const struct rule_header *fixed,
                                        size_t fixed_count) {
    struct curl_slist *list = append(NULL, "Expect:"); /* no 100-continue: it costs a round trip */
    struct encoded_names names;
    buf_init_fixed(&names.list, names.text, sizeof names.text);
    list = add_ours(list, task, &names);
    if (!is_fixed(BYTES("Content-Type"), fixed, fixed_count))
        list =
            add_content_type(list, task.call ? task.call->content_type : BYTES("application/json"));
    if (task.call)
        list = add_own(list, task.call, fixed, fixed_count, &names);
    for (size_t i = 0; i < fixed_count; i++) {
        struct bytes name = fixed[i].name;
        if (!is_ours(name) && (!is_listed(name, reserved) || is_listed(name, allowed_fixed)))
            list = add_fixed(list, task_at(task, 0), &fixed[i], &names);
    }
    if (names.list.len > 0)
        list = add(list, BYTES("Impound-Base64"), buf_view(&names.list));
    return list;
}

void http_request_put_group(const struct call_group *group, struct buf *out) {
    struct json_out json = json_out(out);
    json_open(&json, '[');
    for (size_t i = 0; i < group->count; i++)
        item_put(&json, group->calls[i]);
    json_close(&json, ']');
}
