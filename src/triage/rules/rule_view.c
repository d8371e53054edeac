/* rule_view: see the header. */
#include "triage/rules/rule_view.h"

static const struct rule *find_in(const struct rule *rules, size_t count, struct bytes name) {
    for (size_t i = 0; i < count; i++)
        if (bytes_eq(rules[i].name, name))
            return &rules[i];
    return NULL;
}

const struct rule *rule_view_find(const struct policy *policy, struct bytes name) {
    const struct rule *found = policy ? find_in(policy->rules, policy->rule_count, name) : NULL;
    if (policy && !found)
        found = find_in(policy->answers, policy->answer_count, name);
    for (int preset = 0; !found && preset < PRESET_COUNT; preset++) {
        size_t count;
        const struct rule *rules = preset_rules((enum preset)preset, &count);
        found = find_in(rules, count, name);
    }
    size_t ours;
    const struct rule *last = preset_ours(&ours);
    return found ? found : find_in(last, ours, name);
}

/* 429, "5xx", "500-510". */
static void put_range(struct json_out *out, struct rule_range range) {
    char memory[32];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    if (range.from == range.to) {
        json_put_i64(out, range.from);
        return;
    }
    if (range.from % 100 == 0 && range.to == range.from + 99)
        buf_printf(&text, "%dxx", range.from / 100);
    else
        buf_printf(&text, "%d-%d", range.from, range.to);
    json_put(out, buf_view(&text));
}

static void put_ranges(struct json_out *out, const char *key, const struct rule_range *ranges,
                       size_t count) {
    if (count == 0)
        return;
    json_key(out, key);
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        put_range(out, ranges[i]);
    json_close(out, ']');
}

/* 0..0 means not given. */
static void put_optional_range(struct json_out *out, const char *key, struct rule_range range) {
    put_ranges(out, key, &range, range.from != 0 || range.to != 0);
}

static void put_kinds(struct json_out *out, uint32_t kinds) {
    if (!kinds)
        return;
    json_key(out, "kind");
    json_open(out, '[');
    for (int kind = 0; kind < KIND_COUNT; kind++)
        if (kinds & (1u << kind))
            json_put_str(out, kind_text((enum kind)kind));
    json_close(out, ']');
}

static void put_text(struct json_out *out, const char *key, struct bytes text) {
    if (text.len == 0)
        return;
    json_key(out, key);
    json_put(out, text);
}

static void put_header(struct json_out *out, const struct rule_when *when) {
    if (when->header_name.len == 0)
        return;
    json_key(out, "header");
    json_open(out, '{');
    json_key_bytes(out, when->header_name);
    json_put(out, when->header_value.len ? when->header_value : BYTES("*"));
    json_close(out, '}');
}

/* Presets have lists of globs; a user's rule has one. */
static void put_globs(struct json_out *out, const char *key, struct rule_globs globs) {
    if (globs.count == 0)
        return;
    json_key(out, key);
    json_open(out, '[');
    for (size_t i = 0; i < globs.count; i++)
        json_put(out, globs.list[i]);
    json_close(out, ']');
}

void rule_view_put_when(struct json_out *out, const struct rule_when *when) {
    json_open(out, '{');
    put_ranges(out, "status", when->statuses, when->status_count);
    put_kinds(out, when->kinds);
    put_ranges(out, "exit_code", when->exit_codes, when->exit_code_count);
    put_optional_range(out, "signal", when->signals);
    put_optional_range(out, "attempt", when->attempts);
    put_text(out, "error_type", when->error_type);
    put_globs(out, "error_type", when->types);
    put_text(out, "message", when->message.len ? when->message : when->message_has);
    put_text(out, "message_starts", when->message_starts);
    put_globs(out, "message", when->messages);
    put_optional_range(out, "message_status", when->message_status);
    put_header(out, when);
    put_text(out, "body", when->body);
    put_text(out, "jq", when->jq);
    if (when->empty != RULE_EMPTY_ANY) {
        json_key(out, "empty");
        json_put_bool(out, when->empty == RULE_EMPTY_YES);
    }
    json_close(out, '}');
}
