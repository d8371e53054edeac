#include "cli/demo_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/thread/child.h"
#include "base/tempdir.h"
#include "base/memory.h"

#define LISTENS "listens on "
#define CONFIG                                                                                     \
    "server: {listen: \"127.0.0.1:0\", jq_timeout: 30s}\n"                                         \
    "store: sqlite:impound.db\n" DEMO_SERVER_QUEUES

enum {
    FOLDER_SIZE = 256,
    PATH_SIZE = 320,
    URL_SIZE = 64,
    LOG_KEPT = 400, /* of what a server that would not start said */
    POLL_MS = 20,
    PATIENCE_MS = 30 * 1000,
};

struct demo_server {
    char folder[FOLDER_SIZE];
    char config[PATH_SIZE], log[PATH_SIZE];
    char url[URL_SIZE];
    pid_t pid; /* 0: not running */
};

/* ---- its folder ---- */

static enum status write_config(const struct demo_server *server) {
    FILE *file = fopen(server->config, "we");
    if (!file)
        return STATUS_IO;
    bool written = fputs(CONFIG, file) >= 0;
    return fclose(file) == 0 && written ? STATUS_OK : STATUS_IO;
}

static enum status make_folder(struct demo_server *server, struct err *err) {
    const char *place = getenv("TMPDIR");
    if (tempdir_make(place && *place ? place : "/tmp", "impound-demo", server->folder,
                     sizeof server->folder, err) != STATUS_OK)
        return err->status;
    snprintf(server->config, sizeof server->config, "%s/impound.yaml", server->folder);
    snprintf(server->log, sizeof server->log, "%s/impound.log", server->folder);
    if (write_config(server) != STATUS_OK)
        return err_set(err, STATUS_IO, "%s: %s", server->config, strerror(errno));
    return STATUS_OK;
}

/* ---- its process ---- */

/* A group of its own, so that a Ctrl-C is for the tour, which then stops it; and it does not
 * outlive a tour that was killed. */
static void become_server(const struct demo_server *server) {
    int log = open(server->log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    child_reset_signals();
    if (log >= 0 && dup2(log, STDOUT_FILENO) >= 0 && dup2(log, STDERR_FILENO) >= 0)
        execl("/proc/self/exe", "impound", "serve", "-c", server->config, (char *)NULL);
    _exit(127);
}

static struct bytes read_log(const struct demo_server *server, char *memory, size_t size) {
    FILE *file = fopen(server->log, "re");
    size_t len = file ? fread(memory, 1, size, file) : 0;
    if (file)
        fclose(file);
    return (struct bytes){memory, len};
}

/* The log's whole line that tells the address. */
static bool find_url(struct demo_server *server, struct bytes log) {
    size_t at = bytes_find(log, BYTES(LISTENS)) + strlen(LISTENS);
    struct bytes rest = bytes_cut(log, at, log.len);
    size_t end = bytes_find(rest, BYTES("\n"));
    if (end == rest.len || end >= sizeof server->url)
        return false;
    snprintf(server->url, sizeof server->url, "%.*s", BYTES_ARG(bytes_cut(rest, 0, end)));
    return true;
}

static enum status wait_for_url(struct demo_server *server, struct err *err) {
    static const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    char memory[4096];
    for (int ms = 0; ms < PATIENCE_MS; ms += POLL_MS) {
        bool ended = waitpid(server->pid, NULL, WNOHANG) != 0;
        struct bytes log = read_log(server, memory, sizeof memory);
        if (ended) {
            server->pid = 0;
            return err_set(err, STATUS_INTERNAL, "the tour's own server ended: %.*s",
                           BYTES_ARG(bytes_clip(bytes_trim(log), LOG_KEPT)));
        }
        if (find_url(server, log))
            return STATUS_OK;
        nanosleep(&pause, NULL);
    }
    return err_set(err, STATUS_TIMEOUT, "the tour's own server does not begin to listen");
}

static enum status start(struct demo_server *server, struct err *err) {
    if (make_folder(server, err) != STATUS_OK)
        return err->status;
    pid_t pid = fork();
    if (pid == 0)
        become_server(server);
    if (pid < 0)
        return err_set(err, STATUS_IO, "no process for a server: %s", strerror(errno));
    server->pid = pid;
    return wait_for_url(server, err);
}

enum status demo_server_start(struct demo_server **out, struct err *err) {
    struct demo_server *server = memory_new(sizeof *server);
    enum status status = start(server, err);
    if (status != STATUS_OK) {
        demo_server_stop(server);
        server = NULL;
    }
    *out = server;
    return status;
}

const char *demo_server_url(const struct demo_server *server) {
    return server->url;
}

void demo_server_stop(struct demo_server *server) {
    if (!server)
        return;
    if (server->pid) {
        kill(server->pid, SIGTERM);
        while (waitpid(server->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    tempdir_remove(server->folder);
    free(server);
}
