/* group_rule: makes a classify rule of a group. The masked message becomes a regular expression in
 * which each mask of the fingerprint is a wildcard. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/json/json.h"
#include "core/classify.h"
#include "core/fingerprint.h"
#include "triage/groups/group.h"

enum { PATTERN_TEXT_MAX = 200, PATTERN_MAX = 4096, RULE_ARENA_CHUNK = 16 * 1024 };

/* ---- the pattern ---- */

static size_t mask_at(struct bytes text) {
    static const struct bytes masks[] = {BYTES("<n>"), BYTES("<hex>"), BYTES("<id>"),
                                         BYTES("<str>")};
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++)
        if (bytes_starts(text, masks[i]))
            return masks[i].len;
    return 0;
}

/* Uses only the beginning of a long message, without cutting a mask in two. */
static struct bytes shorten(struct bytes masked, bool *whole) {
    struct bytes text = bytes_clip(masked, PATTERN_TEXT_MAX);
    *whole = text.len == masked.len;
    for (size_t i = text.len; !*whole && i > 0 && text.len - i < sizeof "<str>"; i--)
        if (mask_at(bytes_cut(masked, i - 1, masked.len)) > text.len - (i - 1))
            return bytes_cut(text, 0, i - 1);
    return text;
}

static void put_pattern(struct bytes message, struct buf *out) {
    struct buf masked;
    bool whole;
    buf_init_heap(&masked, SIZE_MAX);
    fingerprint_mask(message, &masked);
    struct bytes text = shorten(buf_view(&masked), &whole);
    buf_char(out, '^');
    for (size_t i = 0; i < text.len;) {
        size_t mask = mask_at(bytes_cut(text, i, text.len));
        if (mask > 0)
            buf_str(out, "(?s:.+?)");
        else if (text.ptr[i] && strchr("\\^$.[]|()?*+{}#", text.ptr[i]))
            buf_printf(out, "\\%c", text.ptr[i]);
        else
            buf_char(out, text.ptr[i]);
        i += mask > 0 ? mask : 1;
    }
    if (whole)
        buf_str(out, "\\z");
    buf_free(&masked);
}

static bool matches(struct bytes pattern, struct bytes message) {
    int error;
    PCRE2_SIZE offset;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)pattern.ptr, pattern.len,
                                     PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &offset, NULL);
    if (!code)
        return false;
    pcre2_match_data *match = pcre2_match_data_create(1, NULL);
    bool yes = pcre2_match(code, (PCRE2_SPTR)message.ptr, message.len, 0, 0, match, NULL) >= 0;
    pcre2_match_data_free(match);
    pcre2_code_free(code);
    return yes;
}

/* ---- the rule ---- */

/* A JSON string is also valid YAML. */
static void put_quoted(struct buf *out, const char *before, struct bytes text) {
    struct json_out json = json_out(out);
    buf_str(out, before);
    json_put(&json, text);
}

static void put_when(const struct envelope *sample, struct bytes pattern, struct buf *out) {
    buf_str(out, "- when: {");
    if (sample->error_type.len > 0)
        put_quoted(out, "error_type: ", sample->error_type);
    if (pattern.len > 0)
        put_quoted(out, sample->error_type.len > 0 ? ", message: " : "message: ", pattern);
    buf_str(out, "}\n");
}

static void put_rest(const struct envelope *sample, enum verdict verdict, struct buf *out) {
    static const struct bytes exhausted = BYTES("max_attempts:");
    struct bytes reason = sample->reason;
    buf_printf(out, "  do: %s\n", verdict_text(verdict));
    if (bytes_starts(reason, exhausted))
        reason = bytes_cut(reason, exhausted.len, reason.len);
    if (bytes_is(reason, CLASSIFY_UNKNOWN) || bytes_starts(reason, BYTES(CLASSIFY_UNKNOWN ":")) ||
        reason.len == 0)
        return;
    put_quoted(out, "  category: ", sample->category);
    put_quoted(out, "\n  reason: ", reason);
    buf_char(out, '\n');
}

static enum status put_rule(const struct envelope *sample, enum verdict verdict, struct buf *out,
                            struct err *err) {
    struct buf pattern;
    if (sample->error_type.len == 0 && sample->error_message.len == 0)
        return err_set(err, STATUS_INVALID,
                       "the group's failures have neither error_type nor error_message");
    buf_init_heap(&pattern, PATTERN_MAX);
    if (sample->error_message.len > 0)
        put_pattern(sample->error_message, &pattern);
    enum status status = STATUS_OK;
    if (pattern.len > 0 && !matches(buf_view(&pattern), sample->error_message))
        status = err_set(err, STATUS_INVALID,
                         "cannot make a pattern of the error message that matches letter %.*s",
                         BYTES_ARG(sample->letter_id));
    if (status == STATUS_OK) {
        put_when(sample, buf_view(&pattern), out);
        put_rest(sample, verdict, out);
    }
    buf_free(&pattern);
    return status;
}

static enum status find_sample(struct triage *triage, uint64_t fingerprint, struct message **out,
                               struct err *err) {
    char text[FINGERPRINT_TEXT_SIZE];
    struct arena arena;
    struct group *groups;
    size_t count;
    arena_init_heap(&arena, RULE_ARENA_CHUNK);
    enum status status = group_collect(triage->store, BYTES_NONE, &arena, &groups, &count, err);
    if (status == STATUS_OK)
        status = err_set(err, STATUS_NOT_FOUND, "group %s does not exist",
                         fingerprint_text(fingerprint, text));
    for (size_t i = 0; i < count; i++)
        if (groups[i].fingerprint == fingerprint)
            status = group_sample(triage->store, &groups[i], out, NULL, err);
    arena_free(&arena);
    return status;
}

enum status group_rule(struct triage *triage, uint64_t fingerprint, enum verdict verdict,
                       struct buf *out, struct err *err) {
    struct message *sample = NULL;
    enum status status = find_sample(triage, fingerprint, &sample, err);
    if (status == STATUS_OK)
        status = put_rule(&sample->envelope, verdict, out, err);
    message_free(sample);
    return status;
}
