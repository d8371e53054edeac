#include "app/config_printer.h"

#include <string.h>

#include "app/config_env.h"
#include "base/ascii.h"
#include "base/instant.h"
#include "base/json.h"
#include "broker/common/url.h"

enum { SHOWN_MAX = 16 << 20 };

/* Words that some YAML readers take for something other than a text. */
static bool is_special(struct bytes text) {
    static const char *const words[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_eq_nocase(text, bytes_of(words[i])))
            return true;
    return false;
}

static bool is_plain(struct bytes text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool inner = ascii_is_digit(c) || c == '_' || c == '.' || c == '-';
        if (!ascii_is_letter(c) && !(i > 0 && inner))
            return false;
    }
    return text.len > 0 && !is_special(text);
}

/* Quoted where need be: a JSON string is a YAML string. */
static void put_raw(struct config_printer *p, struct bytes text) {
    struct json_out json = json_out(p->out);
    if (is_plain(text))
        buf_bytes(p->out, text);
    else
        json_put(&json, text);
}

void config_printer_text(struct config_printer *p, struct bytes text) {
    struct buf shown;
    buf_init_heap(&shown, SHOWN_MAX);
    url_mask(config_env_written(p->config, text, &p->room), &shown);
    put_raw(p, buf_view(&shown));
    buf_free(&shown);
}

void config_printer_key(struct config_printer *p, struct bytes key, const char *behind) {
    put_raw(p, key);
    buf_str(p->out, behind);
}

/* Without the word that says what kind of credentials follow. */
static struct bytes credentials_of(struct bytes text) {
    static const char *const kinds[] = {"Bearer ", "Basic ", "Token "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes_starts(text, bytes_of(kinds[i])))
            return bytes_cut(text, strlen(kinds[i]), text.len);
    return text;
}

void config_printer_secret(struct config_printer *p, struct bytes text) {
    struct bytes written = config_env_written(p->config, text, &p->room);
    put_raw(p, url_is_named(credentials_of(written)) ? written : BYTES("***"));
}

void config_printer_duration(struct config_printer *p, const char *key, int64_t ms) {
    buf_str(p->out, key);
    duration_put(p->out, ms);
}

void config_printer_decimal(struct config_printer *p, const char *key, uint32_t value, int digits,
                            const char *unit) {
    uint32_t scale = 1;
    for (int i = 0; i < digits; i++)
        scale *= 10;
    buf_printf(p->out, "%s%u", key, value / scale);
    uint32_t rest = value % scale;
    if (rest)
        buf_char(p->out, '.');
    for (; rest; rest = rest * 10 % scale)
        buf_printf(p->out, "%u", rest * 10 / scale);
    buf_str(p->out, unit);
}

/* A header is taken for a secret by its name. */
static bool is_secret(struct bytes name) {
    static const char *const parts[] = {"auth", "cookie", "key", "password", "secret", "token"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (bytes_has_nocase(name, bytes_of(parts[i])))
            return true;
    return false;
}

void config_printer_headers(struct config_printer *p, const struct rule_header *headers,
                            size_t count) {
    buf_str(p->out, ", headers: {");
    for (size_t i = 0; i < count; i++) {
        buf_str(p->out, i ? ", " : "");
        config_printer_key(p, headers[i].name, ": ");
        (is_secret(headers[i].name) ? config_printer_secret
                                    : config_printer_text)(p, headers[i].value);
    }
    buf_char(p->out, '}');
}

void config_printer_begin(struct config_printer *p, bool *comma, const char *name) {
    buf_printf(p->out, "%s%s: ", *comma ? ", " : "", name);
    *comma = true;
}

void config_printer_optional(struct config_printer *p, const char *name, struct bytes text,
                             bool *comma) {
    if (text.len == 0)
        return;
    config_printer_begin(p, comma, name);
    config_printer_text(p, text);
}
