/* A path on the first line, a JSON value behind it: what is found is a value inside that text. */
#include "fuzz.h"

#include "base/json/json_path.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes text = fuzz_text(data, size);
    size_t end = bytes_find(text, BYTES("\n"));
    struct bytes path = bytes_cut(text, 0, end), body = bytes_cut(text, end + 1, text.len);
    struct err err = {STATUS_OK, ""};
    struct json value, found;
    if (json_path_check(path, &err) != STATUS_OK) {
        FUZZ_CHECK(err.text[0] != '\0');
        return 0;
    }
    if (json_parse(body, &value, NULL) != STATUS_OK || !json_path_get(value, path, &found))
        return 0;
    FUZZ_CHECK(found.text.ptr >= value.text.ptr &&
               found.text.ptr + found.text.len <= value.text.ptr + value.text.len);
    struct json again;
    FUZZ_CHECK(json_parse(found.text, &again, NULL) == STATUS_OK && again.type == found.type);
    return 0;
}
