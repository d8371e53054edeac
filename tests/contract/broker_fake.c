/* The server in memory. */
#include <stdio.h>

#include "fake_broker.h"
#include "broker_subject.h"

static struct fake_server *server;
static unsigned pushed;

static bool start(void) {
    server = fake_server_new();
    return true;
}

static void stop(void) {
    fake_server_free(server);
}

static void next(void) {
    stop();
    start();
}

static void url(char *out, size_t size) {
    snprintf(out, size, "fake:");
}

static enum status check(struct bytes text, struct err *err) {
    (void)text;
    (void)err;
    return STATUS_OK;
}

static struct broker *source(const struct broker_options *options) {
    (void)options;
    return fake_broker_new(server);
}

static void push(struct bytes body) {
    char id[16];
    snprintf(id, sizeof id, "m%u", pushed++);
    fake_server_push(server, id, NULL, body);
}

static size_t left(void) {
    return fake_server_count(server);
}

static void sever(void) {
    fake_server_set_trouble(server, "it is gone");
}

static void heal(void) {
    fake_server_set_trouble(server, NULL);
}

const struct broker_subject broker_subject = {
    .kind = "fake",
    .start = start,
    .stop = stop,
    .next = next,
    .url = url,
    .check = check,
    .source = source,
    .push = push,
    .left = left,
    .sever = sever,
    .heal = heal,
};
