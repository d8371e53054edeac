#include "broker/nats_inbox.h"

#include <stdio.h>

enum { NAME_MAX_BYTES = 256 };

static void on_end(void *arg) {
    struct nats_inbox *inbox = arg;
    atomic_store(&inbox->ended, true);
    bell_ring(inbox->bell);
}

bool nats_inbox_open(struct nats_inbox *inbox, struct nats_connection *connection,
                     natsMsgHandler take, void *arg, struct err *err) {
    char pattern[NAME_MAX_BYTES];
    inbox->bell = connection->bell;
    atomic_store(&inbox->ended, false);
    natsStatus status = natsInbox_Create(&inbox->name);
    if (status == NATS_OK) {
        snprintf(pattern, sizeof pattern, "%s.>", inbox->name);
        status = natsConnection_Subscribe(&inbox->subscription, connection->nc, pattern, take, arg);
    }
    if (status == NATS_OK) {
        status = natsSubscription_SetOnCompleteCB(inbox->subscription, on_end, inbox);
        if (status != NATS_OK)
            atomic_store(&inbox->ended, true); /* nobody would tell */
    }
    return nats_connection_did(connection, status, "subscribe", err);
}

void nats_inbox_close(struct nats_inbox *inbox) {
    if (inbox->subscription) {
        natsSubscription_DrainTimeout(inbox->subscription, NATS_FLUSH_TIMEOUT_MS);
        while (!atomic_load(&inbox->ended))
            bell_wait(inbox->bell, -1, NATS_FLUSH_TIMEOUT_MS);
        natsSubscription_Destroy(inbox->subscription);
    }
    natsInbox_Destroy(inbox->name);
    inbox->subscription = NULL;
    inbox->name = NULL;
}
