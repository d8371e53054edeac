/* redis_set: members of a sorted set, or tasks in asynq's archive, in the order of their scores:
 * dead jobs of other systems, oldest first. */
#ifndef BROKER_REDIS_SET_H
#define BROKER_REDIS_SET_H

#include "broker/redis/redis_connection.h"
#include "core/message.h"

/* Adds one command: the members at indexes `from` to `to`, both included. */
void redis_set_add_range(struct redis_connection *connection, const struct redis_url *url,
                         size_t from, size_t to);
/* Adds one command: how many there are. */
void redis_set_add_count(struct redis_connection *connection, const struct redis_url *url);

/* One of those in the answer to a range: its tag, by which it is settled, and the message. */
struct redis_set_member {
    struct bytes tag, score; /* borrowed from the answer */
    struct bytes body;
};
/* How many members the answer has, and the one at an index. A task whose message is gone has an
 * empty body. */
size_t redis_set_count(const struct redis_url *url, const redisReply *reply);
struct redis_set_member redis_set_at(const struct redis_url *url, const redisReply *reply,
                                     size_t place);
/* CONFLICT: a member in the answer to a range is the id of a job that is stored elsewhere (BullMQ,
 * RQ). Removing the id would leave the job unreachable. */
enum status redis_set_check_ids(const struct redis_url *url, const redisReply *reply,
                                struct err *err);
struct message *redis_set_message(const struct redis_url *url,
                                  const struct redis_set_member *member);

#endif
