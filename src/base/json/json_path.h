/* json_path: an exact path into a JSON value, a small part of jq's: `.order.id`, `."x y"`,
 * `.lines[0].sku`, `.` for the whole. No wildcards, no programs: the result is a slice of the text.
 */
#ifndef BASE_JSON_JSON_PATH_H
#define BASE_JSON_JSON_PATH_H

#include "base/json/json.h"

enum { JSON_PATH_MAX = 1024, JSON_PATH_INDEX_MAX = 1000000 };

/* INVALID: err says what is wrong and at which character. */
enum status json_path_check(struct bytes path, struct err *err);
/* The value at the path; false: none. Of repeated members the last counts. The path must have
 * passed the check. */
bool json_path_get(struct json value, struct bytes path, struct json *out);

#endif
