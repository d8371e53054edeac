/* json_member: writes members of an object; a missing value is null. */
#ifndef BASE_JSON_JSON_MEMBER_H
#define BASE_JSON_JSON_MEMBER_H

#include "base/instant.h"
#include "base/json/json.h"

void json_member_text(struct json_out *out, const char *key, struct bytes text); /* null: empty */
void json_member_number(struct json_out *out, const char *key, uint64_t number);
void json_member_time(struct json_out *out, const char *key, struct wall at); /* null: never */
void json_member_names(struct json_out *out, const char *key, const struct bytes *names,
                       size_t count);

#endif
