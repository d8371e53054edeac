#include "oracle.h"

#include <jansson.h>
#include <string.h>

/* RFC 8259 lets a reader set limits: jansson's are the range of numbers, NUL in member names and
 * lone surrogates. */
static enum oracle verdict_on(const json_error_t *error) {
    enum json_error_code code = json_error_code(error);
    return code == json_error_numeric_overflow || code == json_error_null_byte_in_key ||
                   strstr(error->text, "invalid Unicode")
               ? ORACLE_LIMIT
               : ORACLE_REFUSES;
}

/* No JSON text holds a NUL byte, but jansson passes over one that follows a number. */
enum oracle oracle_json(const char *text, size_t len) {
    json_error_t error;
    if (len && memchr(text, '\0', len))
        return ORACLE_REFUSES;
    json_t *value =
        json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
    if (!value)
        return verdict_on(&error);
    json_decref(value);
    return ORACLE_TAKES;
}
