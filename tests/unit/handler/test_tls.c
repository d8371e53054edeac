/* Real certificates, made by openssl in a folder of their own, and a real TLS server. */
#include "test.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/tempdir.h"
#include "base/memory.h"
#include "caller.h"
#include "handler/http/http.h"

struct bench {
    struct http_pool *pool;
    char dir[32];
    pid_t server;
    char url[64];
    char ca_file[64];
};

static int set_up(void **state) {
    struct bench *bench = memory_new(sizeof *bench);
    bench->pool = http_pool_new(&caller_clock, BYTES("1.2.3"));
    assert_int_equal(tempdir_make("/tmp", "impound-tls", bench->dir, sizeof bench->dir, NULL),
                     STATUS_OK);
    snprintf(bench->ca_file, sizeof bench->ca_file, "%s/cert.pem", bench->dir);
    *state = bench;
    return 0;
}

static int tear_down(void **state) {
    struct bench *bench = *state;
    http_pool_free(bench->pool);
    if (bench->server > 0) {
        kill(bench->server, SIGTERM);
        waitpid(bench->server, NULL, 0);
    }
    tempdir_remove(bench->dir);
    free(bench);
    return 0;
}

/* `dates` are openssl ca's: when it was and is valid. */
static void make_certificate(struct bench *bench, const char *dates) {
    char command[1024];
    snprintf(
        command, sizeof command,
        "cd %s && exec 2>openssl.log && openssl req -newkey rsa:2048 -nodes -keyout key.pem "
        "-subj /CN=127.0.0.1 -out csr.pem && touch index.txt && "
        "printf '[ca]\\ndefault_ca=d\\n[d]\\ndatabase=index.txt\\nnew_certs_dir=.\\n"
        "rand_serial=yes\\ndefault_md=sha256\\npolicy=p\\nx509_extensions=x\\n[p]\\n"
        "commonName=supplied\\n[x]\\nsubjectAltName=IP:127.0.0.1\\nbasicConstraints=CA:TRUE\\n' "
        "> ca.cnf && openssl ca -batch -config ca.cnf -selfsign -keyfile key.pem "
        "-in csr.pem -out cert.pem -notext %s",
        bench->dir, dates);
    assert_int_equal(system(command), 0);
}

static void serve(struct bench *bench) {
    int out[2];
    assert_int_equal(pipe(out), 0);
    char key_file[64];
    snprintf(key_file, sizeof key_file, "%s/key.pem", bench->dir);
    bench->server = fork();
    if (bench->server == 0) {
        dup2(out[1], STDOUT_FILENO);
        execlp("python3", "python3", TLS_PEER, bench->ca_file, key_file, (char *)NULL);
        _exit(127);
    }
    close(out[1]);
    FILE *lines = fdopen(out[0], "r");
    int port;
    assert_int_equal(fscanf(lines, "%d", &port), 1);
    fclose(lines);
    snprintf(bench->url, sizeof bench->url, "https://127.0.0.1:%d/", port);
}

static void post(struct bench *bench, struct caller *caller, bool trust) {
    struct http_options options = {
        .url = bytes_of(bench->url),
        .timeout_ms = 3600 * 1000,
        .ca_file = trust ? bytes_of(bench->ca_file) : BYTES_NONE,
    };
    struct handler *handler = http_new(bench->pool, &options);
    caller_init(caller);
    caller_run(caller, handler);
    handler->vtable->free(handler);
}

static void a_trusted_certificate_is_served_and_a_stranger_s_is_not(void **state) {
    struct bench *bench = *state;
    make_certificate(bench, "-days 30");
    serve(bench);
    struct caller caller;
    post(bench, &caller, true);
    assert_bytes(caller.outcome.error_message, "");
    assert_int_equal(caller.outcome.ending, ENDING_OK);
    caller_free(&caller);
    post(bench, &caller, false);
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TLS);
    caller_free(&caller);
}

static void an_expired_certificate_is_tls(void **state) {
    struct bench *bench = *state;
    make_certificate(bench, "-startdate 20200101000000Z -enddate 20200201000000Z");
    serve(bench);
    struct caller caller;
    post(bench, &caller, true);
    assert_int_equal(caller.outcome.ending, ENDING_FAILED);
    assert_int_equal(caller.outcome.kind, KIND_TLS);
    assert_true(bytes_has_nocase(caller.outcome.error_message, BYTES("expired")));
    caller_free(&caller);
}

static void a_certificate_file_that_is_missing_is_tls(void **state) {
    struct bench *bench = *state;
    make_certificate(bench, "-days 30");
    serve(bench);
    snprintf(bench->ca_file, sizeof bench->ca_file, "%s/no-such.pem", bench->dir);
    struct caller caller;
    post(bench, &caller, true);
    assert_int_equal(caller.outcome.kind, KIND_TLS);
    caller_free(&caller);
}

#define WITH_BENCH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_BENCH(a_trusted_certificate_is_served_and_a_stranger_s_is_not),
        WITH_BENCH(an_expired_certificate_is_tls),
        WITH_BENCH(a_certificate_file_that_is_missing_is_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
