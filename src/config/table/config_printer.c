#include "config/table/config_printer.h"

#include <assert.h>
#include <string.h>

#include "config/table/config_env.h"
#include "config/config_tables.h"
#include "config/table/config_value.h"
#include "base/text/ascii.h"
#include "base/json/json.h"
#include "broker/common/url.h"

enum { SHOWN_MAX = 16 << 20, COMPARED_MAX = 256 << 20 };

/* Words that some YAML readers do not read as a text. */
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

/* Quoted if necessary: a JSON string is a YAML string. */
static void put_raw(struct config_printer *p, struct bytes text) {
    struct json_out json = json_out(p->out);
    if (is_plain(text))
        buf_bytes(p->out, text);
    else
        json_put(&json, text);
}

void config_printer_text(struct config_printer *p, struct bytes text) {
    if (!p->config) {
        put_raw(p, text);
        return;
    }
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

/* Without the word for the scheme, such as Bearer, before the credentials. */
static struct bytes credentials_of(struct bytes text) {
    static const char *const kinds[] = {"Bearer ", "Basic ", "Token "};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (bytes_starts(text, bytes_of(kinds[i])))
            return bytes_cut(text, strlen(kinds[i]), text.len);
    return text;
}

void config_printer_secret(struct config_printer *p, struct bytes text) {
    if (!p->config) {
        put_raw(p, text);
        return;
    }
    struct bytes written = config_env_written(p->config, text, &p->room);
    put_raw(p, url_is_named(credentials_of(written)) ? written : BYTES("***"));
}

/* Whether a header is a secret is decided by its name. */
static bool is_secret(struct bytes name) {
    static const char *const parts[] = {"auth", "cookie", "key", "password", "secret", "token"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (bytes_has_nocase(name, bytes_of(parts[i])))
            return true;
    return false;
}

void config_printer_headers(struct config_printer *p, const struct rule_header *headers,
                            size_t count) {
    buf_char(p->out, '{');
    for (size_t i = 0; i < count; i++) {
        buf_str(p->out, i ? ", " : "");
        config_printer_key(p, headers[i].name, ": ");
        (is_secret(headers[i].name) ? config_printer_secret
                                    : config_printer_text)(p, headers[i].value);
    }
    buf_char(p->out, '}');
}

void config_printer_texts(struct config_printer *p, const struct bytes *texts, size_t count) {
    buf_char(p->out, '[');
    for (size_t i = 0; i < count; i++) {
        buf_str(p->out, i ? ", " : "");
        config_printer_text(p, texts[i]);
    }
    buf_char(p->out, ']');
}

/* ---- tables ---- */

static const void *value_of(const struct config_field *field, const void *mapping) {
    return (const char *)mapping + field->offset;
}

static bool is_empty(const struct config_field *field, const void *value) {
    static const char zeros[sizeof(struct bytes)];
    assert(field->size > 0 && field->size <= sizeof zeros);
    bool text = field->put == config_value_put_text || field->put == config_value_put_secret;
    return text ? ((const struct bytes *)value)->len == 0 : memcmp(value, zeros, field->size) == 0;
}

static bool is_shown(const struct config_printer *p, const struct config_field *field,
                     const void *mapping) {
    if (!field->read)
        return false;
    if (field->shown)
        return field->shown(p, field, mapping);
    return !field->optional || !is_empty(field, value_of(field, mapping));
}

static void put_value(struct config_printer *p, const struct config_field *field,
                      const void *mapping) {
    const void *value = value_of(field, mapping);
    if (field->off && field->off(value))
        buf_str(p->out, "off");
    else if (field->put)
        field->put(p, field, value);
    else
        config_printer_mapping(p, field->table, value);
}

/* Whether the value is printed as whole lines below the key. */
static bool has_lines(const struct config_field *field, const void *value) {
    bool off = field->off && field->off(value);
    return field->lines || (!off && !field->put && field->table->block);
}

void config_printer_indent(struct config_printer *p) {
    for (unsigned i = 0; i < p->indent; i++)
        buf_str(p->out, "  ");
}

static void put_line(struct config_printer *p, const struct config_field *field,
                     const void *mapping) {
    bool lines = has_lines(field, value_of(field, mapping));
    config_printer_indent(p);
    buf_printf(p->out, "%s:", field->name);
    if (field->note)
        buf_printf(p->out, " # %s", field->note);
    buf_str(p->out, lines ? "\n" : " ");
    p->indent++;
    put_value(p, field, mapping);
    p->indent--;
    buf_str(p->out, lines ? "" : "\n");
}

/* The rows that are printed after `key`, each followed by the rows after it; NULL: the rows at
 * their own position. */
static void put_rows(struct config_printer *p, const struct config_table *table,
                     const void *mapping, const char *key, const char **before) {
    for (size_t i = 0; i < table->count; i++) {
        const struct config_field *field = &table->fields[i];
        bool here = key && field->behind ? strcmp(field->behind, key) == 0 : key == field->behind;
        if (!here)
            continue;
        if (is_shown(p, field, mapping)) {
            if (table->block) {
                put_line(p, field, mapping);
            } else {
                buf_printf(p->out, "%s%s: ", *before, field->name);
                put_value(p, field, mapping);
            }
            *before = ", ";
        }
        put_rows(p, table, mapping, field->name, before);
    }
}

void config_printer_mapping(struct config_printer *p, const struct config_table *table,
                            const void *mapping) {
    const char *before = "";
    buf_str(p->out, table->block ? "" : "{");
    put_rows(p, table, mapping, NULL, &before);
    buf_str(p->out, table->block ? "" : "}");
}

void config_printer_items(struct config_printer *p, const struct config_table *table,
                          const void *items, size_t count, size_t item_size) {
    for (size_t i = 0; i < count; i++) {
        config_printer_indent(p);
        buf_str(p->out, "- ");
        config_printer_mapping(p, table, (const char *)items + i * item_size);
        buf_char(p->out, '\n');
    }
}

void config_print(const struct config *config, struct buf *out) {
    struct config_printer p = {.config = config, .out = out};
    buf_init_heap(&p.room, SHOWN_MAX);
    config_printer_mapping(&p, &config_root_table, config);
    buf_free(&p.room);
}

/* ---- comparing ---- */

static void put_bare(const struct config_field *field, const void *mapping, struct buf *out) {
    struct config_printer p = {.out = out};
    buf_init_heap(out, COMPARED_MAX);
    if (is_shown(&p, field, mapping))
        put_value(&p, field, mapping);
}

bool config_printer_same(const struct config_field *field, const void *a, const void *b) {
    struct buf left, right;
    put_bare(field, a, &left);
    put_bare(field, b, &right);
    bool same = !left.overflow && !right.overflow && bytes_eq(buf_view(&left), buf_view(&right));
    buf_free(&left);
    buf_free(&right);
    return same;
}
