/* redis_reply: the parts of a Redis server's answers. Pure. */
#ifndef BROKER_REDIS_REPLY_H
#define BROKER_REDIS_REPLY_H

#include <hiredis/hiredis.h>

#include "broker/redis/redis_url.h"
#include "core/message.h"

struct bytes redis_reply_text(const redisReply *reply); /* borrowed; empty: it is no text */
/* An entry of a stream: its id, and its fields with their values. */
bool redis_reply_is_entry(const redisReply *reply);
/* The message that the fields of an entry make. */
struct message *redis_reply_entry(const struct redis_url *url, struct bytes entry,
                                  const redisReply *fields);

#endif
