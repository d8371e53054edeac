/* Any bytes in a list, and any fields in a stream, make a message with an id and the body as it is.
 */
#include "fuzz.h"

#include "base/json/json.h"
#include "broker/redis/redis_message.h"
#include "broker/common/url.h"

enum { FIELDS_MAX = 16 };

static void check(const struct message *held) {
    FUZZ_CHECK(held->envelope.id.len > 0 && held->envelope.id.len <= URL_ID_MAX);
    FUZZ_CHECK(bytes_is_printable(held->envelope.id));
    FUZZ_CHECK(held->envelope.content_type.len > 0 && held->envelope.source.len > 0);
}

static void check_record(struct bytes body) {
    const struct rule_header headers[] = {{BYTES("dlq-reason"), BYTES("r")},
                                          {BYTES("dlq-failed-at"), BYTES("1")}};
    struct sink_item item = {.body = body, .headers = headers, .header_count = 2};
    struct buf out;
    struct json json;
    buf_init_heap(&out, body.len + 256);
    if (redis_message_record(&item, &out))
        FUZZ_CHECK(json_parse(buf_view(&out), &json, NULL) == STATUS_OK);
    buf_free(&out);
}

/* Lines are fields, name=value. */
static size_t fields_of(struct bytes rest, struct redis_message_field *out) {
    struct bytes line;
    size_t count = 0;
    while (count < FIELDS_MAX && bytes_line(&rest, &line)) {
        size_t at = bytes_find(line, BYTES("="));
        out[count++] =
            (struct redis_message_field){bytes_cut(line, 0, at), bytes_cut(line, at + 1, line.len)};
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct redis_message_field fields[FIELDS_MAX];
    struct message *held = redis_message_of_element(BYTES("l"), BYTES(".id"), BYTES("tag"), text);
    check(held);
    FUZZ_CHECK(bytes_eq(held->body, text));
    message_free(held);
    held = redis_message_of_entry(BYTES("s"), BYTES("g"), BYTES("1-0"), fields,
                                  fields_of(text, fields));
    check(held);
    message_free(held);
    check_record(text);
    return 0;
}
