/* version: see the header. */
#include "core/version.h"

/* The numbers at the start of `text`; *rest is the remainder. False: there are none. */
static bool read_numbers(struct bytes text, uint64_t out[VERSION_NUMBERS], struct bytes *rest) {
    size_t at = 0, count = 0;
    for (size_t i = 0; i < VERSION_NUMBERS; i++)
        out[i] = 0;
    for (;;) {
        size_t begin = at;
        while (at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9')
            at++;
        uint64_t number;
        if (at == begin || !bytes_u64(bytes_cut(text, begin, at), &number))
            break;
        if (count < VERSION_NUMBERS)
            out[count] = number;
        count++;
        *rest = bytes_cut(text, at, text.len);
        if (at == text.len || text.ptr[at] != '.')
            break;
        at++;
    }
    return count > 0;
}

bool version_rule_parse(struct bytes text, struct version_rule *out) {
    static const struct {
        struct bytes sign;
        enum version_compare compare;
    } signs[] = {
        {BYTES(">="), VERSION_AT_LEAST}, {BYTES(">"), VERSION_ABOVE}, {BYTES("="), VERSION_EQUAL}};
    struct bytes rest = BYTES_NONE;
    text = bytes_trim(text);
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        if (!bytes_starts(text, signs[i].sign))
            continue;
        struct bytes number = bytes_trim(bytes_cut(text, signs[i].sign.len, text.len));
        out->compare = signs[i].compare;
        return read_numbers(number, out->numbers, &rest) && rest.len == 0;
    }
    return false;
}

bool version_matches(const struct version_rule *rule, struct bytes version) {
    uint64_t numbers[VERSION_NUMBERS];
    struct bytes rest;
    version = bytes_trim(version);
    if (version.len > 0 && (version.ptr[0] == 'v' || version.ptr[0] == 'V'))
        version = bytes_cut(version, 1, version.len);
    if (!read_numbers(version, numbers, &rest))
        return false;
    for (size_t i = 0; i < VERSION_NUMBERS; i++)
        if (numbers[i] != rule->numbers[i])
            return rule->compare != VERSION_EQUAL && numbers[i] > rule->numbers[i];
    return rule->compare != VERSION_ABOVE;
}
