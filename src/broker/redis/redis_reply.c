#include "broker/redis/redis_reply.h"

#include "broker/redis/redis_message.h"

enum { FIELDS_MAX = 512 }; /* of one entry; the rest is left out */

struct bytes redis_reply_text(const redisReply *reply) {
    return reply->str ? (struct bytes){reply->str, (size_t)reply->len} : BYTES("");
}

bool redis_reply_is_entry(const redisReply *reply) {
    return reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
           reply->element[1]->type == REDIS_REPLY_ARRAY;
}

struct message *redis_reply_entry(const struct redis_url *url, struct bytes entry,
                                  const redisReply *pairs) {
    struct redis_message_field fields[FIELDS_MAX];
    size_t count = 0;
    for (size_t i = 0; i + 1 < pairs->elements && count < FIELDS_MAX; i += 2)
        fields[count++] = (struct redis_message_field){redis_reply_text(pairs->element[i]),
                                                       redis_reply_text(pairs->element[i + 1])};
    return redis_message_of_entry(url->stream, url->group, entry, fields, count);
}
