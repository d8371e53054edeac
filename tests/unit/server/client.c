#include "client.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/containers/list.h"
#include "store/fake_store.h"
#include "test.h"

/* ---- the world ---- */

static int64_t read_ms(clockid_t which) {
    struct timespec now;
    clock_gettime(which, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct instant world_now(struct clock *clock) {
    struct client_world *world = CONTAINER_OF(clock, struct client_world, clock);
    pthread_mutex_lock(&world->mutex);
    int64_t mono = (world->stopped_at ? world->stopped_at : read_ms(CLOCK_MONOTONIC)) - world->lost;
    pthread_mutex_unlock(&world->mutex);
    return (struct instant){{read_ms(CLOCK_REALTIME)}, {mono}};
}

void client_world_stop_time(struct client_world *world) {
    pthread_mutex_lock(&world->mutex);
    assert_int_equal(world->stopped_at, 0);
    world->stopped_at = read_ms(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&world->mutex);
}

void client_world_go_on(struct client_world *world) {
    pthread_mutex_lock(&world->mutex);
    world->lost += read_ms(CLOCK_MONOTONIC) - world->stopped_at;
    world->stopped_at = 0;
    pthread_mutex_unlock(&world->mutex);
}

static bool config_dlq(void *arg, struct bytes name, struct live_config_dlq *out) {
    (void)arg;
    *out = (struct live_config_dlq){.cap = 100, .owner = BYTES("team-orders")};
    return bytes_is(name, "orders.dlq");
}

static size_t config_dlq_names(void *arg, struct arena *arena, struct bytes **out) {
    (void)arg;
    *out = arena_alloc(arena, 2 * sizeof **out);
    (*out)[0] = (*out)[1] = BYTES("orders.dlq"); /* two queues share it */
    return 2;
}

static const struct policy *config_policy(void *arg, struct bytes queue) {
    static const struct policy policy;
    (void)arg;
    return bytes_is(queue, "orders") ? &policy : NULL;
}

static bool config_compensates(void *arg, struct bytes queue) {
    (void)arg, (void)queue;
    return false;
}

static void config_release(void *arg) {
    (void)arg;
}

static void open_world(struct client_world *world, bool immediate, int64_t idle_ms) {
    *world = (struct client_world){.store = fake_store_new(immediate),
                                   .clock = {.now = world_now},
                                   .mutex = PTHREAD_MUTEX_INITIALIZER};
    client_world_stop_time(world);
    world->engine.count = 2;
    snprintf(world->engine.queues[0].name, 256, "orders");
    snprintf(world->engine.queues[1].name, 256, "payments");
    triage_init(&world->triage, &world->clock, 42);
    world->triage.store = world->store;
    struct server_options options = {
        .host = "127.0.0.1",
        .max_body = CLIENT_MAX_BODY,
        .idle_ms = idle_ms,
        .engine = &world->engine,
        .store = world->store,
        .clock = &world->clock,
        .triage = &world->triage,
        .config = {config_dlq, config_dlq_names, config_policy, config_release, config_compensates,
                   NULL},
        .version = BYTES("1.2.3"),
        .seed = 42,
    };
    struct err err;
    assert_int_equal(server_start(&options, &world->server, &err), STATUS_OK);
    world->port = server_port(world->server);
}

void client_world_open(struct client_world *world, bool immediate) {
    open_world(world, immediate, 0);
}

void client_world_open_impatient(struct client_world *world, int64_t idle_ms) {
    open_world(world, true, idle_ms);
}

void client_world_close(struct client_world *world) {
    server_stop(world->server);
    world->store->vtable->close(world->store);
    triage_free(&world->triage);
}

/* ---- the socket ---- */

void client_connect_with(const struct client_world *world, int fd) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(world->port)};
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
}

int client_connect(const struct client_world *world) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    client_connect_with(world, fd);
    return fd;
}

void client_send(int fd, const char *text) {
    size_t len = strlen(text);
    while (len > 0) {
        ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
        assert_true(sent > 0);
        text += sent;
        len -= (size_t)sent;
    }
}

/* False at the end. */
static bool read_some(int fd, struct buf *text) {
    char part[4096];
    ssize_t len = recv(fd, part, sizeof part, 0);
    assert_true(len >= 0);
    buf_put(text, part, (size_t)len);
    return len > 0;
}

static char *finish(struct buf *text) {
    size_t len;
    return buf_take(text, &len);
}

char *client_read_all(int fd) {
    struct buf text;
    buf_init_heap(&text, 1 << 26);
    while (read_some(fd, &text)) {
    }
    return finish(&text);
}

char *client_read_until(int fd, const char *what) {
    struct buf text;
    buf_init_heap(&text, 1 << 26);
    while (!strstr(buf_cstr(&text), what))
        assert_true(read_some(fd, &text));
    return finish(&text);
}

char *client_read_one(int fd) {
    struct buf text;
    buf_init_heap(&text, 1 << 26);
    for (;;) {
        const char *sofar = buf_cstr(&text), *body = strstr(sofar, "\r\n\r\n");
        const char *length = strcasestr(sofar, "content-length:");
        if (body && length &&
            text.len >= (size_t)(body + 4 - sofar) + strtoul(length + 15, NULL, 10))
            return finish(&text);
        assert_true(read_some(fd, &text));
    }
}

/* ---- requests ---- */

char *client_ask(const struct client_world *world, const char *method, const char *path,
                 const char *type, const char *body) {
    struct buf text;
    buf_init_heap(&text, 1 << 26);
    buf_printf(&text, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n", method, path);
    if (type)
        buf_printf(&text, "Content-Type: %s\r\n", type);
    if (body)
        buf_printf(&text, "Content-Length: %zu\r\n", strlen(body));
    buf_str(&text, "\r\n");
    buf_str(&text, body ? body : "");
    int fd = client_connect(world);
    client_send(fd, buf_cstr(&text));
    buf_free(&text);
    char *answer = client_read_all(fd);
    close(fd);
    return answer;
}

char *client_get(const struct client_world *world, const char *path) {
    return client_ask(world, "GET", path, NULL, NULL);
}

char *client_post(const struct client_world *world, const char *path, const char *body) {
    return client_ask(world, "POST", path, "application/json", body);
}

int client_status(const char *answer) {
    return strncmp(answer, "HTTP/1.", 7) == 0 ? atoi(answer + 9) : 0;
}

void client_expect(char *answer, int status, const char *says) {
    if (client_status(answer) != status || !strstr(answer, says))
        fail_msg("expected %d with \"%s\", got: %s", status, says, answer);
    free(answer);
}
