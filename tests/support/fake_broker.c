#include "fake_broker.h"

#include <stdio.h>
#include <string.h>

#include "base/containers/list.h"
#include "base/memory.h"

enum { HEADERS_CHUNK = 256 };

struct fake_message {
    struct list link; /* in server->waiting or server->given */
    char *id, *key;
    struct bytes body;   /* owned */
    struct bytes source; /* empty: as every other's */
    struct arena arena;  /* of its headers and source */
    const struct rule_header *headers;
    size_t header_count;
    bool given_before;
    uint32_t deliveries;
    bool settled;    /* by a consumer who could not say so yet */
    struct mono due; /* not before */
    uint64_t tag;    /* of its last delivery */
    uint64_t number; /* its own, for as long as the server has it */
};

struct fake_server {
    struct list waiting, given;
    size_t count;
    uint64_t next_tag, next_number;
    char trouble[256]; /* empty: none */
    struct wall created_at;
    bool without_ids, untagged;
    struct fake_broker *consumer;
};

struct fake_broker {
    struct broker broker;
    struct fake_server *server;
    bool wanted;
    void (*ready)(void *arg);
    void *ready_arg;
};

static struct fake_message *message_at(struct list *node) {
    return CONTAINER_OF(node, struct fake_message, link);
}

static void tell(struct fake_server *server) {
    if (server->consumer && server->consumer->ready)
        server->consumer->ready(server->consumer->ready_arg);
}

/* ---- the server ---- */

struct fake_server *fake_server_new(void) {
    struct fake_server *server = memory_new(sizeof *server);
    list_init(&server->waiting);
    list_init(&server->given);
    return server;
}

static void fake_message_free(struct fake_server *server, struct fake_message *message) {
    list_remove(&message->link);
    server->count--;
    free(message->id);
    free(message->key);
    free((char *)message->body.ptr);
    arena_free(&message->arena);
    free(message);
}

void fake_server_free(struct fake_server *server) {
    struct list *both[] = {&server->waiting, &server->given};
    for (size_t i = 0; i < 2; i++)
        while (!list_empty(both[i]))
            fake_message_free(server, message_at(both[i]->next));
    free(server);
}

static struct fake_message *push(struct fake_server *server, const char *id, const char *key,
                                 struct bytes body) {
    struct fake_message *message = memory_new(sizeof *message);
    arena_init_heap(&message->arena, HEADERS_CHUNK);
    message->id = bytes_dup(bytes_of(id));
    message->key = key ? bytes_dup(bytes_of(key)) : NULL;
    message->body = (struct bytes){bytes_dup(body), body.len};
    message->number = ++server->next_number;
    list_push_back(&server->waiting, &message->link);
    server->count++;
    return message;
}

void fake_server_push(struct fake_server *server, const char *id, const char *key,
                      struct bytes body) {
    push(server, id, key, body);
    tell(server);
}

void fake_server_push_from(struct fake_server *server, const char *id, const char *source) {
    struct fake_message *message = push(server, id, NULL, BYTES(""));
    message->source = arena_dup(&message->arena, bytes_of(source));
    tell(server);
}

static const struct rule_header *copy_headers(const struct rule_header *headers, size_t count,
                                              struct arena *arena) {
    struct rule_header *copy = arena_alloc(arena, (count + 1) * sizeof *copy);
    for (size_t i = 0; i < count; i++)
        copy[i] = (struct rule_header){arena_dup(arena, headers[i].name),
                                       arena_dup(arena, headers[i].value)};
    return copy;
}

void fake_server_publish(struct fake_server *server, const char *id, const struct sink_item *item) {
    char *key = item->key.ptr ? bytes_dup(item->key) : NULL;
    struct fake_message *message = push(server, id, key, item->body);
    message->headers = copy_headers(item->headers, item->header_count, &message->arena);
    message->header_count = item->header_count;
    free(key);
    tell(server);
}

size_t fake_server_count(const struct fake_server *server) {
    return server->count;
}

bool fake_server_has(const struct fake_server *server, const char *id) {
    const struct list *both[] = {&server->waiting, &server->given};
    for (size_t i = 0; i < 2; i++)
        for (struct list *node = both[i]->next; node != both[i]; node = node->next)
            if (strcmp(message_at(node)->id, id) == 0)
                return true;
    return false;
}

void fake_server_set_deliveries(struct fake_server *server, uint32_t deliveries) {
    LIST_EACH(node, &server->waiting)
    message_at(node)->deliveries = deliveries - 1;
}

void fake_server_set_created_at(struct fake_server *server, struct wall created_at) {
    server->created_at = created_at;
}

void fake_server_set_without_ids(struct fake_server *server) {
    server->without_ids = server->untagged = true;
}

void fake_server_set_untagged(struct fake_server *server) {
    server->untagged = true;
}

void fake_server_give_before(struct fake_server *server) {
    LIST_EACH(node, &server->waiting)
    message_at(node)->given_before = true;
}

/* In the order in which they were given. */
static void take_back(struct fake_server *server) {
    while (!list_empty(&server->given)) {
        struct fake_message *message = message_at(server->given.prev);
        message->settled = false;
        list_remove(&message->link);
        list_push_front(&server->waiting, &message->link);
    }
}

void fake_server_redeliver(struct fake_server *server) {
    take_back(server);
    tell(server);
}

static void drop_settled(struct fake_server *server) {
    LIST_EACH_SAFE(node, &server->given) {
        if (message_at(node)->settled)
            fake_message_free(server, message_at(node));
    }
}

void fake_server_set_trouble(struct fake_server *server, const char *why) {
    snprintf(server->trouble, sizeof server->trouble, "%s", why ? why : "");
    if (!why)
        drop_settled(server);
    tell(server);
}

/* ---- its consumer ---- */

static struct fake_broker *self(struct broker *broker) {
    return CONTAINER_OF(broker, struct fake_broker, broker);
}

static struct message *held_of(const struct fake_server *server, struct fake_message *message) {
    struct message *held = message_new();
    struct envelope *envelope = &held->envelope;
    char source[128], number[24], id[256];
    snprintf(source, sizeof source, "{\"kind\":\"fake\",\"tag\":%llu}",
             (unsigned long long)message->tag);
    if (server->without_ids)
        snprintf(id, sizeof id, "%s#%llu", message->id, (unsigned long long)message->tag);
    else
        snprintf(id, sizeof id, "%s", message->id);
    envelope->id = arena_dup(&held->arena, bytes_of(id));
    envelope->source =
        arena_dup(&held->arena, message->source.len ? message->source : bytes_of(source));
    envelope->content_type = BYTES("application/json");
    envelope->created_at = server->created_at;
    if (message->key)
        envelope->key = arena_dup(&held->arena, bytes_of(message->key));
    held->body = arena_dup(&held->arena, message->body);
    envelope->headers = copy_headers(message->headers, message->header_count, &held->arena);
    envelope->header_count = message->header_count;
    snprintf(number, sizeof number, "%llu", (unsigned long long)message->number);
    if (!server->untagged)
        held->delivery = arena_dup(&held->arena, bytes_of(number));
    held->redelivered = message->given_before;
    held->deliveries = message->deliveries;
    held->source = (void *)(uintptr_t)message->tag;
    return held;
}

static size_t receive(struct broker *broker, struct instant now, struct message **out, size_t max) {
    struct fake_server *server = self(broker)->server;
    size_t count = 0;
    if (server->trouble[0] || !self(broker)->wanted)
        return 0;
    LIST_EACH_SAFE(node, &server->waiting) {
        struct fake_message *message = message_at(node);
        if (count == max)
            break;
        if (message->due.ms > now.mono.ms)
            continue;
        list_remove(node);
        list_push_back(&server->given, node);
        message->tag = ++server->next_tag;
        message->deliveries++;
        out[count++] = held_of(server, message);
        message->given_before = true;
    }
    return count;
}

/* NULL: it was given to somebody else since. */
static struct fake_message *find_given(struct fake_server *server, const struct message *held) {
    LIST_EACH(node, &server->given) {
        if (message_at(node)->tag == (uint64_t)(uintptr_t)held->source)
            return message_at(node);
    }
    return NULL;
}

static void settle(struct broker *broker, struct message *held) {
    struct fake_server *server = self(broker)->server;
    struct fake_message *message = find_given(server, held);
    if (!message)
        return;
    message->settled = true;
    if (!server->trouble[0])
        drop_settled(server);
}

static void hand_back(struct broker *broker, struct message *held, struct instant due) {
    struct fake_server *server = self(broker)->server;
    struct fake_message *message = find_given(server, held);
    if (message) {
        list_remove(&message->link);
        list_push_back(&server->waiting, &message->link);
        message->due = due.mono;
        message->deliveries--; /* it costs the message nothing */
    }
    message_free(held);
}

static struct mono next_wake(struct broker *broker) {
    const struct fake_server *server = self(broker)->server;
    struct mono next = MONO_NEVER;
    if (server->trouble[0] || !self(broker)->wanted)
        return MONO_NEVER;
    LIST_EACH(node, &server->waiting)
    next = mono_earlier(next, message_at(node)->due);
    return next;
}

static uint64_t lag(struct broker *broker) {
    size_t count = 0;
    LIST_EACH(node, &self(broker)->server->waiting)
    count++;
    return count;
}

static void want(struct broker *broker, bool wanted) {
    self(broker)->wanted = wanted;
}

static void health(struct broker *broker, struct broker_health *out) {
    const struct fake_server *server = self(broker)->server;
    *out = (struct broker_health){.connected = !server->trouble[0]};
    if (!out->connected)
        err_set(&out->trouble, STATUS_UNREACHABLE, "%s", server->trouble);
}

static void listen(struct broker *broker, void (*ready)(void *arg), void *arg) {
    self(broker)->ready = ready;
    self(broker)->ready_arg = arg;
}

static void fake_free(struct broker *broker) {
    struct fake_server *server = self(broker)->server;
    server->consumer = NULL;
    take_back(server);
    LIST_EACH(node, &server->waiting)
    message_at(node)->due = (struct mono){0};
    free(self(broker));
}

static const struct broker_vtable fake_vtable = {
    .kind = "fake",
    .receive = receive,
    .settle = settle,
    .hand_back = hand_back,
    .next_wake = next_wake,
    .lag = lag,
    .want = want,
    .health = health,
    .listen = listen,
    .free = fake_free,
};

struct broker *fake_broker_new(struct fake_server *server) {
    struct fake_broker *fake = memory_new(sizeof *fake);
    fake->broker.vtable = &fake_vtable;
    fake->server = server;
    fake->wanted = true;
    server->consumer = fake;
    return &fake->broker;
}

bool fake_broker_wanted(const struct broker *broker) {
    return ((const struct fake_broker *)(const void *)broker)->wanted;
}
