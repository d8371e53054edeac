/* content: see the header. */
#include "base/text/content.h"

#include "base/json/json.h"

struct bytes content_looks(struct bytes body) {
    struct json json;
    if (json_parse(body, &json, NULL) == STATUS_OK)
        return BYTES("application/json");
    return bytes_is_utf8(body) ? BYTES("text/plain; charset=utf-8")
                               : BYTES("application/octet-stream");
}
