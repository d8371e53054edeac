/* sink: a handler fast enough to measure others by. Answers 200 to every POST, or 400 when the body
 * has "poison":true, and remembers how long each message took from the "t" in its body
 * (milliseconds since 1970, written by the producer). GET answers
 * {"count":…,"p50_ms":…,"p99_ms":…}; DELETE forgets.
 *
 *   sink PORT */
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SAMPLES_MAX = 4 << 20, BODY_KEPT = 256 };

static struct {
    pthread_mutex_t mutex;
    int samples_ms[SAMPLES_MAX];
    size_t count;
} seen = {.mutex = PTHREAD_MUTEX_INITIALIZER};

struct post {
    char body[BODY_KEPT];
    size_t len;
};

static long long now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void note(const struct post *post) {
    const char *t = strstr(post->body, "\"t\":");
    if (!t)
        return;
    pthread_mutex_lock(&seen.mutex);
    if (seen.count < SAMPLES_MAX)
        seen.samples_ms[seen.count++] = (int)(now_ms() - atoll(t + 4));
    pthread_mutex_unlock(&seen.mutex);
}

static int by_size(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static void report(char *text, size_t size) {
    pthread_mutex_lock(&seen.mutex);
    qsort(seen.samples_ms, seen.count, sizeof *seen.samples_ms, by_size);
    int p50 = seen.count ? seen.samples_ms[seen.count / 2] : 0;
    int p99 = seen.count ? seen.samples_ms[seen.count * 99 / 100] : 0;
    snprintf(text, size, "{\"count\":%zu,\"p50_ms\":%d,\"p99_ms\":%d}\n", seen.count, p50, p99);
    pthread_mutex_unlock(&seen.mutex);
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
        bool poison =
            strstr(post->body, "\"poison\":true") || strstr(post->body, "\"poison\": true");
        if (!poison)
            note(post);
        return answer(connection, poison ? 400 : 200, "");
    }
    char text[128];
    report(text, sizeof text);
    if (strcmp(method, "DELETE") == 0) {
        pthread_mutex_lock(&seen.mutex);
        seen.count = 0;
        pthread_mutex_unlock(&seen.mutex);
    }
    return answer(connection, 200, text);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
                         enum MHD_RequestTerminationCode code) {
    (void)arg, (void)connection, (void)code;
    free(*state);
    *state = NULL;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: sink PORT\n");
        return 2;
    }
    sigset_t stop;
    int got;
    sigemptyset(&stop);
    sigaddset(&stop, SIGTERM);
    sigaddset(&stop, SIGINT);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ERROR_LOG, (uint16_t)atoi(argv[1]), NULL, NULL,
        on_request, NULL, MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
    if (!daemon)
        return 1;
    sigwait(&stop, &got);
    MHD_stop_daemon(daemon);
    return 0;
}
