/* The course of a triage rule, as it stands in the store: taken, or refused; what is taken is
 * written again as it can be read, and says the same. */
#include "fuzz.h"

#include "triage/rules/rule_schedule.h"

enum { TEXT_MAX = 1 << 16 };

static void put(const struct rule_schedule *course, struct buf *out) {
    buf_init_heap(out, TEXT_MAX);
    struct json_out json = json_out(out);
    json_open(&json, '{');
    rule_schedule_put(&json, course);
    json_close(&json, '}');
}

static void check_again(const struct rule_schedule *course) {
    struct rule_schedule again;
    struct json object;
    struct buf first, second;
    struct err err;
    put(course, &first);
    FUZZ_CHECK(json_parse(buf_view(&first), &object, &err) == STATUS_OK);
    FUZZ_CHECK(rule_schedule_read(object, &again, &err) == STATUS_OK);
    FUZZ_CHECK(again.stage == course->stage && again.useless == course->useless);
    FUZZ_CHECK(again.runs == course->runs && again.fixed == course->fixed);
    FUZZ_CHECK(again.next_run_at.ms == course->next_run_at.ms);
    put(&again, &second);
    FUZZ_CHECK(bytes_eq(buf_view(&first), buf_view(&second)));
    buf_free(&first);
    buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    struct rule_schedule course;
    struct json object;
    struct err err = {STATUS_OK, ""};
    if (json_parse(text, &object, &err) != STATUS_OK)
        return 0;
    enum status status = rule_schedule_read(object, &course, &err);
    FUZZ_CHECK(status == STATUS_OK || (status == STATUS_CORRUPT && err.text[0]));
    if (status == STATUS_OK)
        check_again(&course);
    return 0;
}
