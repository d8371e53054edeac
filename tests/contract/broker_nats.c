/* A NATS server of its own; each lane is a stream with a durable pull consumer. */
#include "test.h"

#include <nats/nats.h>
#include <stdio.h>

#include "broker/nats/nats_peek.h"
#include "broker/nats/nats_source.h"
#include "broker_server.h"
#include "broker_subject.h"

/* None of the tests waits for it; one that is held up must not reach it. */
enum { ACK_WAIT_MS = 30000, NS_PER_MS = 1000000 };

static natsConnection *client;
static jsCtx *jetstream;
static unsigned lane;
static char stream[32], subject[32];

static bool answers(void) {
    char url[64];
    snprintf(url, sizeof url, "nats://127.0.0.1:%s", broker_server_port());
    if (natsConnection_ConnectTo(&client, url) != NATS_OK)
        return false;
    assert_int_equal(natsConnection_JetStream(&jetstream, client, NULL), NATS_OK);
    return true;
}

static void heal(void) {
    const char *const command[] = {
        "nats-server",          "-a", "127.0.0.1", "-p", broker_server_port(), "-js", "-sd",
        broker_server_folder(), NULL};
    broker_server_run(command, answers);
}

static void sever(void) {
    jsCtx_Destroy(jetstream);
    natsConnection_Destroy(client);
    broker_server_kill();
}

static bool start(void) {
    if (!broker_server_prepare("nats-server"))
        return false;
    heal();
    return true;
}

static void stop(void) {
    sever();
    broker_server_clean();
    nats_Close();
}

static void next(void) {
    snprintf(stream, sizeof stream, "LANE%u", ++lane);
    snprintf(subject, sizeof subject, "lane%u", lane);
    const char *subjects[] = {subject};
    jsStreamConfig config;
    jsConsumerConfig consumer;
    jsStreamConfig_Init(&config);
    config.Name = stream;
    config.Subjects = subjects;
    config.SubjectsLen = 1;
    assert_int_equal(js_AddStream(NULL, jetstream, &config, NULL, NULL), NATS_OK);
    jsConsumerConfig_Init(&consumer);
    consumer.Durable = "c";
    consumer.AckPolicy = js_AckExplicit;
    consumer.AckWait = (int64_t)ACK_WAIT_MS * NS_PER_MS;
    assert_int_equal(js_AddConsumer(NULL, jetstream, stream, &consumer, NULL, NULL), NATS_OK);
}

static void push(struct bytes body) {
    assert_int_equal(js_Publish(NULL, jetstream, subject, body.ptr, (int)body.len, NULL, NULL),
                     NATS_OK);
}

static size_t left(void) {
    jsConsumerInfo *info = NULL;
    assert_int_equal(js_GetConsumerInfo(&info, jetstream, stream, "c", NULL, NULL), NATS_OK);
    size_t count = (size_t)info->NumPending + (size_t)info->NumAckPending;
    jsConsumerInfo_Destroy(info);
    return count;
}

static void url(char *out, size_t size) {
    snprintf(out, size, "nats://127.0.0.1:%s?stream=%s&consumer=c", broker_server_port(), stream);
}

const struct broker_subject broker_subject = {
    .kind = "nats",
    .start = start,
    .stop = stop,
    .next = next,
    .url = url,
    .check = nats_source_check,
    .source = nats_source_new,
    .peek = nats_peek_new,
    .look_names = true,
    .push = push,
    .left = left,
    .sever = sever,
    .heal = heal,
};
