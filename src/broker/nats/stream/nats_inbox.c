#include "broker/nats/stream/nats_inbox.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 256 };

static void on_end(void *arg) {
    struct nats_inbox *inbox = arg;
    nats_end_tell(&inbox->end, inbox->wakeup);
}

bool nats_inbox_open(struct nats_inbox *inbox, struct nats_connection *connection,
                     natsMsgHandler take, void *arg, struct err *err) {
    char pattern[NAME_MAX_BYTES];
    inbox->wakeup = connection->wakeup;
    nats_end_begin(&inbox->end);
    natsStatus status = natsInbox_Create(&inbox->name);
    if (status == NATS_OK) {
        snprintf(pattern, sizeof pattern, "%s.>", inbox->name);
        status = natsConnection_Subscribe(&inbox->subscription, connection->nc, pattern, take, arg);
    }
    if (status == NATS_OK) {
        status = natsSubscription_SetOnCompleteCB(inbox->subscription, on_end, inbox);
        if (status != NATS_OK)
            nats_end_tell(&inbox->end, inbox->wakeup); /* the callback will not */
    }
    return nats_connection_did(connection, status, "subscribe", err);
}

void nats_inbox_close(struct nats_inbox *inbox) {
    if (inbox->subscription) {
        natsSubscription_DrainTimeout(inbox->subscription, NATS_FLUSH_TIMEOUT_MS);
        nats_end_await(&inbox->end, inbox->wakeup);
        natsSubscription_Destroy(inbox->subscription);
    }
    natsInbox_Destroy(inbox->name);
    inbox->subscription = NULL;
    inbox->name = NULL;
}
