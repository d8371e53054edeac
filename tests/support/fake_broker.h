/* fake_broker: a server's queue in memory, and a broker that consumes it: what tests hold against
 * the engine, and the shortest thing that passes the contract suite. One thread. */
#ifndef FAKE_BROKER_H
#define FAKE_BROKER_H

#include "port/broker.h"
#include "port/sink.h"

struct fake_server;

struct fake_server *fake_server_new(void);
void fake_server_free(struct fake_server *server); /* its consumers are gone */
/* Behind what waits. `key` may be NULL. */
void fake_server_push(struct fake_server *server, const char *id, const char *key,
                      struct bytes body);
/* The same, with an empty body and this source. */
void fake_server_push_from(struct fake_server *server, const char *id, const char *source);
/* What a sink would publish there: its body, key and headers. */
void fake_server_publish(struct fake_server *server, const char *id, const struct sink_item *item);
size_t fake_server_count(const struct fake_server *server); /* everything that was not settled */
bool fake_server_has(const struct fake_server *server, const char *id); /* of that, this one */
/* How often the next delivery of everything is said to be. */
void fake_server_set_deliveries(struct fake_server *server, uint32_t deliveries);
/* When everything was created; it says nothing of that before. */
void fake_server_set_created_at(struct fake_server *server, struct wall created_at);
/* Messages have no ids of their own from now on: each delivery has another one, `ID#NUMBER`. */
void fake_server_set_without_ids(struct fake_server *server);
/* Nothing but ids and contents tells messages apart from now on. */
void fake_server_set_untagged(struct fake_server *server);
/* What waits is said to have been given before. */
void fake_server_give_before(struct fake_server *server);
/* What was given to consumers and not settled is given again, while they still have it. */
void fake_server_redeliver(struct fake_server *server);
/* Nothing can be received or settled, for this reason; NULL: it can again. */
void fake_server_set_trouble(struct fake_server *server, const char *why);

/* A consumer: what it has not settled when it is freed is given again, marked as redelivered. */
struct broker *fake_broker_new(struct fake_server *server);
bool fake_broker_wanted(const struct broker *broker); /* what it was told last */

#endif
