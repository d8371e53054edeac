/* A Redis server of its own, in a folder of its own; SUBJECT_STREAM: a stream, else a list. */
#include "test.h"

#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker/redis_source.h"
#include "broker_subject.h"

enum { STARTS_MAX = 3000, START_LOOK_US = 10000 };

static pid_t server;
static char folder[] = "/tmp/impound-redis-XXXXXX";
static char port[8];
static redisContext *client;
static unsigned lane;

static void choose_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &size), 0);
    close(fd);
    snprintf(port, sizeof port, "%u", ntohs(at.sin_port));
}

static bool answers(void) {
    client = redisConnect("127.0.0.1", atoi(port));
    redisReply *reply = client->err ? NULL : redisCommand(client, "PING");
    bool up = reply && reply->type == REDIS_REPLY_STATUS;
    if (reply)
        freeReplyObject(reply);
    if (!up)
        redisFree(client);
    return up;
}

static void run(void) {
    server = fork();
    if (server == 0) {
        execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1", "--dir",
               folder, "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--logfile",
               "redis.log", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; !answers(); i++) {
        if (i == STARTS_MAX || waitpid(server, NULL, WNOHANG) != 0)
            fail_msg("redis-server does not start");
        usleep(START_LOOK_US);
    }
}

static void sever(void) {
    redisFree(client);
    client = NULL;
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
}

static bool start(void) {
    if (system("redis-server --version >/dev/null 2>&1") != 0)
        return false;
    assert_non_null(mkdtemp(folder));
    choose_port();
    run();
    return true;
}

static void stop(void) {
    char command[64];
    sever();
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        perror(folder);
}

/* ---- one lane ---- */

static long long number(redisReply *reply) {
    assert_non_null(reply);
    if (reply->type == REDIS_REPLY_ERROR)
        fail_msg("%s", reply->str);
    long long value = reply->integer;
    freeReplyObject(reply);
    return value;
}

#ifdef SUBJECT_STREAM
static void next(void) {
    number(redisCommand(client, "XGROUP CREATE lane%u g 0 MKSTREAM", ++lane));
}

static void push(struct bytes body) {
    number(redisCommand(client, "XADD lane%u * body %b", lane, body.ptr, body.len));
}

/* Entries that are neither delivered nor acknowledged, by the group's last one and its pending. */
static size_t left(void) {
    static const char script[] =
        "local group = redis.call('XINFO', 'GROUPS', KEYS[1])[1] "
        "local facts = {} for i = 1, #group, 2 do facts[group[i]] = group[i + 1] end "
        "local behind = redis.call('XRANGE', KEYS[1], '(' .. facts['last-delivered-id'], '+') "
        "return facts['pending'] + #behind";
    return (size_t)number(redisCommand(client, "EVAL %s 1 lane%u", script, lane));
}

#define QUERY "stream=lane%u&group=g"
#else
static void next(void) {
    lane++;
}

static void push(struct bytes body) {
    number(redisCommand(client, "LPUSH lane%u %b", lane, body.ptr, body.len));
}

static size_t left(void) {
    static const char script[] =
        "local count = redis.call('LLEN', KEYS[1]) "
        "for _, hash in ipairs(redis.call('KEYS', KEYS[1] .. ':impound:*')) do "
        "  count = count + redis.call('HLEN', hash) end return count";
    return (size_t)number(redisCommand(client, "EVAL %s 1 lane%u", script, lane));
}

#define QUERY "list=lane%u"
#endif

static struct broker *consumer(const char *instance) {
    char url[128];
    snprintf(url, sizeof url, "redis://127.0.0.1:%s/0?" QUERY, port, lane);
    struct broker_options options = {.url = bytes_of(url),
                                     .queue = BYTES("q"),
                                     .instance = bytes_of(instance),
                                     .clock = &clock_system,
                                     .seed = 1,
                                     .max_body = 1 << 20};
    assert_int_equal(redis_source_check(options.url, NULL), STATUS_OK);
    return redis_source_new(&options);
}

const struct broker_subject broker_subject = {
    .kind = "redis",
    .start = start,
    .stop = stop,
    .next = next,
    .consumer = consumer,
    .push = push,
    .left = left,
    .sever = sever,
    .heal = run,
};
