/* nats_pointer: follows advisories that were captured in a stream to the messages that they refer
 * to.
 *
 * The result has the body, headers, key, content type and created_at of the message that was given
 * up. Its id and source stay those of the advisory, which is the dead letter here; its source
 * has two members more:
 *   "origin"    the message's own coordinates, as a source; with "gone": true and without "subject"
 *               where it was deleted before it could be read. The body is then empty
 *   "advisory"  the advisory as it came */
#ifndef BROKER_NATS_POINTER_H
#define BROKER_NATS_POINTER_H

#include "broker/nats/nats_connection.h"
#include "core/message.h"

/* Nothing when it is no advisory: `subject` is the one that the message came on. May be called from
 * any thread while the connection is open. False: err says why the server could not be asked, and
 * the message is as it was. */
bool nats_pointer_follow(struct nats_connection *connection, struct bytes subject,
                         struct message *held, struct err *err);

#endif
