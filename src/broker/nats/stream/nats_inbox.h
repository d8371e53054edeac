/* nats_inbox: a subject of our own for answers. Used by one thread; the answers come on a thread of
 * the library's. */
#ifndef BROKER_NATS_INBOX_H
#define BROKER_NATS_INBOX_H

#include "broker/nats/nats_connection.h"

struct nats_inbox {
    natsSubscription *subscription; /* NULL: it is closed */
    natsInbox *name;
    struct wakeup *wakeup;
    struct nats_end end; /* nothing comes any more */
};

/* Messages to NAME.anything are given to `take`, which destroys them. False: err says why; close it
 * in any case. */
bool nats_inbox_open(struct nats_inbox *inbox, struct nats_connection *connection,
                     natsMsgHandler take, void *arg, struct err *err);
/* What is on its way is taken first; then `take` is not called any more. Nothing when it is closed.
 */
void nats_inbox_close(struct nats_inbox *inbox);

#endif
