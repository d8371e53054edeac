/* redis_connection: one connection to a Redis server, plain or with TLS, logged in and with its
 * database selected. Commands are pipelined, and every wait is bounded. hiredis reads and writes
 * the protocol; the socket is ours, because Debian's hiredis has no TLS. One thread. */
#ifndef BROKER_REDIS_CONNECTION_H
#define BROKER_REDIS_CONNECTION_H

#include <hiredis/hiredis.h>

#include "broker/redis/redis_url.h"
#include "port/clock.h"

enum {
    REDIS_CONNECT_TIMEOUT_MS = 2000, /* of each step: the socket, TLS, logging in */
    REDIS_COMMAND_TIMEOUT_MS = 5000,
};

struct redis_connection;

/* NULL: err says why, with the server's address in it. `url` outlives the connection. */
struct redis_connection *redis_connection_open(const struct redis_url *url, struct clock *clock,
                                               struct err *err);
void redis_connection_free(struct redis_connection *connection);

/* Adds a command to the pipeline. */
void redis_connection_add(struct redis_connection *connection, const struct bytes *words,
                          size_t count);
/* Sends the pipeline. Not OK: the connection is unusable. */
enum status redis_connection_send(struct redis_connection *connection, struct err *err);
/* The next answer, to be freed with freeReplyObject; NULL: it did not come, and the connection is
 * unusable. */
redisReply *redis_connection_read(struct redis_connection *connection, int64_t wait_ms,
                                  struct err *err);
/* The same without waiting; OK with NULL: there is none yet. */
enum status redis_connection_peek(struct redis_connection *connection, redisReply **out,
                                  struct err *err);
/* One command and its answer. NULL as above, or when the server refuses the command; the connection
 * is usable then. */
redisReply *redis_connection_ask(struct redis_connection *connection, const struct bytes *words,
                                 size_t count, struct err *err);
/* Whether the key of that name has that type. NOT_FOUND: there is no such key; CONFLICT: it has
 * another type; anything else: the server could not be asked. `words` is the type's name for
 * people. Needs err. */
enum status redis_connection_is(struct redis_connection *connection, struct bytes name,
                                const char *type, const char *words, struct err *err);
/* The text of an answer that is an error. */
enum status redis_connection_refused(const struct redis_connection *connection,
                                     const redisReply *reply, struct err *err);

int redis_connection_fd(const struct redis_connection *connection); /* readable: peek */
/* Readable although no answer is expected: the server closed it. */
bool redis_connection_ended(struct redis_connection *connection);
/* After NULL from ask: it can still be used. */
bool redis_connection_usable(const struct redis_connection *connection);

#endif
