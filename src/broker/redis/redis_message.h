/* redis_message: an element of a list, an entry of a stream or a member of a set, as a message.
 * Pure. */
#ifndef BROKER_REDIS_MESSAGE_H
#define BROKER_REDIS_MESSAGE_H

#include "port/sink.h"
#include "core/message.h"

/* Members of the source of what came from a stream: how its entry was made. */
#define REDIS_MESSAGE_FIELD  "field"        /* the body was the value of this one, its only field */
#define REDIS_MESSAGE_BASE64 "base64"       /* before a name, or around a value, not in UTF-8 */
#define REDIS_MESSAGE_FIELDS "fields"       /* the body is an object of its fields */
#define REDIS_MESSAGE_TYPED  "content_type" /* beside the body it had that field */

/* An element of a list is a body. Its id is what `id_path` finds in it (url.h), else `tag`; a tag
 * may have a mark (redis_mark.h), which becomes headers. */
struct message *redis_message_of_element(struct bytes list, struct bytes id_path, struct bytes tag,
                                         struct bytes element);

/* The same of a member of a sorted set (`shape` "zset"), or of a task in asynq's archive ("asynq"),
 * whose `tag` is its id. */
struct message *redis_message_of_member(const char *shape, struct bytes name, struct bytes id_path,
                                        struct bytes tag, struct bytes member);

struct redis_message_field {
    struct bytes name, value;
};
/* An entry of a stream is a list of fields. Of `body`, `key` and `content_type` the message has its
 * own, and of all others headers. Without a `body`, a single field's value is the body, and several
 * are a JSON object; the last ones are headers in any case where they are a letter's marks
 * (comeback.h). Its id is the entry's. */
struct message *redis_message_of_entry(struct bytes stream, struct bytes group, struct bytes entry,
                                       const struct redis_message_field *fields, size_t count);

/* An element has no headers. A letter whose body is a JSON object gets members of its own behind
 * the body's, or in the place of those that it has: dlq_reason, and dlq_at in seconds. False: it is
 * no such letter. */
bool redis_message_record(const struct sink_item *item, struct buf *out);

#endif
