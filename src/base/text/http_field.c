/* http_field: see the header. */
#include "base/text/http_field.h"

#include <string.h>

#include "base/text/ascii.h"

static bool in_name(char c) {
    return ascii_is_alnum(c) || (c && strchr("!#$%&'*+-.^_`|~", c));
}

bool http_field_is_name(struct bytes name) {
    for (size_t i = 0; i < name.len; i++)
        if (!in_name(name.ptr[i]))
            return false;
    return name.len > 0;
}

bool http_field_is_value(struct bytes value) {
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7f)
            return false;
    }
    return true;
}
