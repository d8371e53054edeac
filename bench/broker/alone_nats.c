#include "alone.h"

#include <nats/nats.h>

#include "broker/nats/nats_url.h"

enum { AT_ONCE = 256, WAIT_MS = 10000 };

static void must(natsStatus status) {
    if (status != NATS_OK)
        alone_die(natsStatus_GetText(status));
}

static size_t consume(natsSubscription *subscription, struct mono *first) {
    natsMsgList list = {NULL, 0};
    must(natsSubscription_Fetch(&list, subscription, AT_ONCE, WAIT_MS, NULL));
    if (!first->ms)
        *first = alone_now();
    for (int i = 0; i < list.Count; i++)
        must(natsMsg_Ack(list.Msgs[i], NULL));
    size_t got = (size_t)list.Count;
    natsMsgList_Destroy(&list);
    return got;
}

struct alone_stretch alone_nats(const char *text, size_t count) {
    struct err err = {STATUS_OK, ""};
    struct nats_url url;
    struct arena arena;
    struct alone_stretch stretch = {.first = {0}};
    char server[300];
    struct buf name;
    natsConnection *connection = NULL;
    jsCtx *jetstream = NULL;
    natsSubscription *subscription = NULL;
    jsSubOptions options;
    arena_init_heap(&arena, URL_TEXT_MAX);
    if (nats_url_source(bytes_of(text), &arena, &url, &err) != STATUS_OK)
        alone_die(err.text);
    buf_init_fixed(&name, server, sizeof server);
    buf_printf(&name, "nats://%.*s:%u", BYTES_ARG(url.hosts[0].name), url.hosts[0].port);
    must(natsConnection_ConnectTo(&connection, buf_cstr(&name)));
    must(natsConnection_JetStream(&jetstream, connection, NULL));
    jsSubOptions_Init(&options);
    options.Stream = url.stream.ptr;
    options.Consumer = url.consumer.ptr;
    must(js_PullSubscribe(&subscription, jetstream, NULL, NULL, NULL, &options, NULL));
    for (size_t done = 0; done < count;)
        done += consume(subscription, &stretch.first);
    must(natsConnection_Flush(connection));
    stretch.last = alone_now();
    natsSubscription_Destroy(subscription);
    jsCtx_Destroy(jetstream);
    natsConnection_Destroy(connection);
    nats_Close();
    arena_free(&arena);
    return stretch;
}
