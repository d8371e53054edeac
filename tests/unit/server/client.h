/* client: a plain socket that says exactly what it is told, and a server to say it to. */
#ifndef CLIENT_H
#define CLIENT_H

#include <pthread.h>

#include "base/buf.h"
#include "fake_engine.h"
#include "server/server.h"

enum { CLIENT_MAX_BODY = 64 * 1024 };

/* A server on a free loopback port with the queues "orders" and "payments", the DLQ "orders.dlq"
 * and a fake store behind it. Its time is stopped, so that a test that is held up is not late. */
struct client_world {
    struct engine engine;
    struct store *store;
    struct triage triage;
    struct server *server;
    uint16_t port;
    struct clock clock;
    pthread_mutex_t mutex;    /* guards the rest */
    int64_t stopped_at, lost; /* when the time was stopped, or 0; how long it stood before */
};

void client_world_open(struct client_world *world, bool immediate);
/* The same with a server that gives a silent client so long, not 30 s. */
void client_world_open_impatient(struct client_world *world, int64_t idle_ms);
void client_world_stop_time(struct client_world *world);
void client_world_go_on(struct client_world *world);
void client_world_close(struct client_world *world);

int client_connect(const struct client_world *world);
/* The same with a socket that there is. */
void client_connect_with(const struct client_world *world, int fd);
void client_send(int fd, const char *text);
/* Reads until the peer closes; the text is to be freed. */
char *client_read_all(int fd);
/* Reads one answer that has a Content-Length; the text is to be freed. */
char *client_read_one(int fd);
/* Reads until `what` has come; everything read so far, to be freed. */
char *client_read_until(int fd, const char *what);

/* One request with Host and "Connection: close", its whole answer. `body` NULL: none. */
char *client_ask(const struct client_world *world, const char *method, const char *path,
                 const char *type, const char *body);
char *client_get(const struct client_world *world, const char *path);
char *client_post(const struct client_world *world, const char *path, const char *body);
/* Asserts the status and that the answer holds `says`; frees the answer. */
void client_expect(char *answer, int status, const char *says);
int client_status(const char *answer);

#endif
