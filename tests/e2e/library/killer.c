/* A worker in whose hands one message is deadly. Starts, works until nothing is left, and says in
 * JSON lines what it saw: {"run":ID} before each message, {"over":ID} after it.
 *
 *   killer FOLDER push COUNT   pushes m0 … and one "killer" in their midst
 *   killer FOLDER run COMPANY  dies of the killer, or ends with 0 when nothing is left; nobody goes
 *                              on before COMPANY messages are inside, one of the first 32 too
 *   killer FOLDER letters      prints all letters */
#include <impound/impound.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000, IN_FLIGHT = 32 };

/* Nobody goes on before so many have come in, and one of the first 32 among them: those are the
 * suspects of the second life. */
struct hall {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int entered, wanted, suspects;
};

static const char config[] = "queues:\n"
                             "  q:\n"
                             "    handler: callback\n"
                             "    concurrency: 32\n"
                             "    retry: {base: 1ms, cap: 10ms, budget_floor: 1000/s}\n"
                             "    breaker: off\n";

static void say(const char *what, const char *id) {
    char line[128];
    int len = snprintf(line, sizeof line, "{\"%s\":\"%s\"}\n", what, id);
    if (write(STDOUT_FILENO, line, (size_t)len) != len)
        _exit(2);
}

/* Of a full hall only the killer comes out. */
static void enter(struct hall *hall, int killer, int suspect) {
    int stays = hall->wanted == IN_FLIGHT && !killer;
    pthread_mutex_lock(&hall->mutex);
    hall->entered++;
    hall->suspects += suspect;
    pthread_cond_broadcast(&hall->changed);
    while (hall->wanted > 0 && (stays || hall->suspects == 0 || hall->entered < hall->wanted))
        pthread_cond_wait(&hall->changed, &hall->mutex);
    pthread_mutex_unlock(&hall->mutex);
}

static int handle(const struct impound_message *message, struct impound_outcome *outcome,
                  void *arg) {
    const char *id = impound_message_id(message);
    int killer = strcmp(id, "killer") == 0;
    say("run", id);
    long number = killer ? 0 : strtol(id + 1, NULL, 10);
    enter((struct hall *)arg, killer, number < IN_FLIGHT);
    if (killer)
        abort();
    if (number % 4 == 0) {
        impound_outcome_fail(outcome, "ValidationError", "ends as a letter, to be looked at");
        impound_outcome_set_status(outcome, 422);
    }
    say("over", id);
    return IMPOUND_HANDLED;
}

static int push_all(struct impound_worker *worker, int count, struct impound_error *error) {
    for (int i = 0; i < count; i++) {
        struct impound_push push = IMPOUND_PUSH_INIT;
        char id[16];
        snprintf(id, sizeof id, "m%d", i);
        push.id = i == IN_FLIGHT / 2 ? "killer" : id;
        if (impound_push(worker, "q", &push, NULL, error) != IMPOUND_OK)
            return 1;
    }
    return 0;
}

static int run(struct impound_worker *worker, int wanted, struct impound_error *error) {
    static struct hall hall = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
    hall.wanted = wanted;
    return impound_worker_handle(worker, "q", 0, handle, &hall, error) != IMPOUND_OK ||
           impound_worker_start(worker, error) != IMPOUND_OK ||
           impound_worker_wait_idle(worker, PATIENCE_MS, error) != IMPOUND_OK;
}

static int show(struct impound_worker *worker, struct impound_error *error) {
    char *letters;
    if (impound_worker_letters(worker, "limit=1000", &letters, error) != IMPOUND_OK)
        return 1;
    printf("%s\n", letters);
    impound_text_free(letters);
    return 0;
}

int main(int argc, char **argv) {
    struct impound_worker_options options = IMPOUND_WORKER_OPTIONS_INIT;
    struct impound_worker *worker;
    struct impound_error error = {0, ""};
    char store[4096];
    if (argc < 3 || (argc < 4 && strcmp(argv[2], "letters") != 0))
        return 2;
    snprintf(store, sizeof store, "sqlite:%s/i.db", argv[1]);
    options.config_text = config;
    options.store = store;
    int failed = impound_worker_open(&options, &worker, &error) != IMPOUND_OK;
    if (!failed && strcmp(argv[2], "push") == 0)
        failed = push_all(worker, atoi(argv[3]), &error);
    else if (!failed && strcmp(argv[2], "letters") == 0)
        failed = show(worker, &error);
    else if (!failed)
        failed = run(worker, atoi(argv[3]), &error);
    if (failed)
        fprintf(stderr, "%s\n", error.text);
    impound_worker_free(failed ? NULL : worker);
    return failed;
}
