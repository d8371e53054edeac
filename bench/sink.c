/* sink: a handler fast enough to measure others by. Answers 200 to every POST, or 400 when the body
 * has "poison":true, and remembers how long each message took from the "t" in its body
 * (milliseconds since 1970, written by the producer) and how many came in each second. GET answers
 * {"count":…,"p50_ms":…,"p99_ms":…,"seconds":[…]}, the seconds from the first message on; DELETE
 * forgets. After a PUT nothing is poison any more.
 *
 *   sink PORT */
#include <microhttpd.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES_MAX = 4 << 20, SECONDS_MAX = 3600, BODY_KEPT = 256, TEXT_SIZE = 64 * 1024 };

static struct {
    float samples_ms[SAMPLES_MAX];
    size_t count;
    double first_ms;
    unsigned seconds[SECONDS_MAX];
    bool forgiving;
} seen;

struct post {
    char body[BODY_KEPT];
    size_t len;
};

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void note(const struct post *post) {
    const char *t = strstr(post->body, "\"t\":");
    double now = now_ms();
    if (!t || seen.count == SAMPLES_MAX)
        return;
    if (seen.count == 0)
        seen.first_ms = now;
    long second = (long)((now - seen.first_ms) / 1000);
    if (second >= 0 && second < SECONDS_MAX)
        seen.seconds[second]++;
    seen.samples_ms[seen.count++] = (float)(now - strtod(t + 4, NULL));
}

static int by_size(const void *a, const void *b) {
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static size_t last_second(void) {
    size_t last = SECONDS_MAX;
    while (last > 0 && seen.seconds[last - 1] == 0)
        last--;
    return last;
}

static void report(char *text, size_t size) {
    qsort(seen.samples_ms, seen.count, sizeof *seen.samples_ms, by_size);
    double p50 = seen.count ? seen.samples_ms[seen.count / 2] : 0;
    double p99 = seen.count ? seen.samples_ms[seen.count * 99 / 100] : 0;
    int len = snprintf(text, size, "{\"count\":%zu,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"seconds\":[",
                       seen.count, p50, p99);
    for (size_t i = 0, last = last_second(); i < last; i++)
        len += snprintf(text + len, size - (size_t)len, "%s%u", i ? "," : "", seen.seconds[i]);
    snprintf(text + len, size - (size_t)len, "]}\n");
}

static void forget(void) {
    seen.count = 0;
    memset(seen.seconds, 0, sizeof seen.seconds);
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
                              const char *text) {
    struct MHD_Response *response =
        MHD_create_response_from_buffer(strlen(text), (void *)(size_t)text, MHD_RESPMEM_MUST_COPY);
    enum MHD_Result queued = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return queued;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *data_len, void **state) {
    (void)arg, (void)url, (void)version;
    struct post *post = *state;
    if (!post) {
        *state = calloc(1, sizeof *post);
        return *state ? MHD_YES : MHD_NO;
    }
    if (*data_len) {
        size_t room = sizeof post->body - 1 - post->len;
        size_t more = *data_len < room ? *data_len : room;
        memcpy(post->body + post->len, data, more);
        post->len += more;
        *data_len = 0;
        return MHD_YES;
    }
    if (strcmp(method, "POST") == 0) {
        bool poison = !seen.forgiving && (strstr(post->body, "\"poison\":true") ||
                                          strstr(post->body, "\"poison\": true"));
        if (!poison)
            note(post);
        return answer(connection, poison ? 400 : 200, "");
    }
    static char text[TEXT_SIZE];
    report(text, sizeof text);
    if (strcmp(method, "DELETE") == 0)
        forget();
    if (strcmp(method, "PUT") == 0)
        seen.forgiving = true;
    return answer(connection, 200, text);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code) {
    (void)arg, (void)connection, (void)code;
    free(*state);
    *state = NULL;
}

static volatile sig_atomic_t stopped;

static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

/* libmicrohttpd's own thread would wait once more, with 128 connections ready in its hands, when
 * exactly 128 became ready at once; MHD_run never waits. */
static void serve(struct MHD_Daemon *daemon, const sigset_t *waiting) {
    int fd = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    while (!stopped) {
        struct pollfd input = {.fd = fd, .events = POLLIN};
        unsigned long long ms;
        bool bounded = MHD_get_timeout(daemon, &ms) == MHD_YES;
        struct timespec time = {(time_t)(bounded ? ms / 1000 : 0),
                                (long)(bounded ? ms % 1000 * 1000000 : 0)};
        ppoll(&input, 1, bounded ? &time : NULL, waiting);
        MHD_run(daemon);
    }
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: sink PORT\n");
        return 2;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, &before);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL | MHD_USE_ERROR_LOG, (uint16_t)atoi(argv[1]), NULL, NULL, on_request, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!daemon)
        return 1;
    serve(daemon, &before);
    MHD_stop_daemon(daemon);
    return 0;
}
