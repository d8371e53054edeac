#include "broker_server.h"

#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tempdir.h"

enum { START_LOOK_US = 10000 };

static pid_t server;
static char folder[64];
static char port[8];
static int taken; /* the port, for as long as it is ours: the server may have it beside us */

static bool is_installed(const char *command) {
    char line[128];
    snprintf(line, sizeof line, "%s --version >/dev/null 2>&1", command);
    return system(line) == 0;
}

/* With SO_REUSEADDR, which servers set too, two may have a port of which one listens; whoever wants
 * any port does not get this one, also while the server is dead. */
static void take_port(void) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    int shared = 1;
    taken = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(setsockopt(taken, SOL_SOCKET, SO_REUSEADDR, &shared, sizeof shared), 0);
    assert_int_equal(bind(taken, (struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(getsockname(taken, (struct sockaddr *)&at, &size), 0);
    snprintf(port, sizeof port, "%u", ntohs(at.sin_port));
}

bool broker_server_prepare(const char *command) {
    if (!is_installed(command))
        return false;
    take_port();
    assert_int_equal(tempdir_make("/tmp", "impound-broker", folder, sizeof folder, NULL),
                     STATUS_OK);
    return true;
}

const char *broker_server_folder(void) {
    return folder;
}

const char *broker_server_port(void) {
    return port;
}

void broker_server_run(const char *const *command, bool (*answers)(void)) {
    server = fork();
    if (server == 0) {
        int null = open("/dev/null", O_RDWR);
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        execvp(command[0], (char *const *)command);
        _exit(127);
    }
    while (!answers()) {
        if (waitpid(server, NULL, WNOHANG) != 0)
            fail_msg("%s does not start", command[0]);
        usleep(START_LOOK_US);
    }
}

void broker_server_kill(void) {
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
}

void broker_server_clean(void) {
    close(taken);
    tempdir_remove(folder);
}
