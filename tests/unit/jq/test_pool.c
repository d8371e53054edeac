/* The pool with real helper processes. A timeout is of the processor's time, so that a short one is
 * enough for a short program however slow the machine is. */
#include "jq/jq_pool.h"

#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "jq/jq_check.h"
#include "test.h"

enum {
    PATIENT_MS = 60000,
    SHORT_MS = 300,
    LESS_THAN_A_SLOW_START_MS = 1000, /* see slow_helper_main.c */
    LESS_THAN_COMPILING_MS = 50,
    JOBS = 200,
};

static const char *helper_program, *slow_helper_program;

/* ---- waiting for jobs ---- */

struct answers {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t count;
};

struct asked {
    struct jq_job job;
    struct answers *answers;
    enum status status;
    bool truthy;
    struct buf output;
    struct err err;
};

static void keep_answer(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                        const struct err *err) {
    struct asked *asked = job->arg;
    pthread_mutex_lock(&asked->answers->mutex);
    asked->status = status;
    asked->truthy = truthy;
    buf_init_heap(&asked->output, SIZE_MAX / 2);
    buf_bytes(&asked->output, output);
    if (err)
        asked->err = *err;
    asked->answers->count++;
    pthread_cond_signal(&asked->answers->changed);
    pthread_mutex_unlock(&asked->answers->mutex);
}

static void ask(struct jq *jq, struct asked *asked, struct answers *answers, const char *program,
                const char *input) {
    *asked = (struct asked){
        .job = {.program = bytes_of(program), .input = bytes_of(input), .done = keep_answer},
        .answers = answers};
    asked->job.arg = asked;
    jq->vtable->start(jq, &asked->job);
}

static void wait_for(struct answers *answers, size_t count) {
    pthread_mutex_lock(&answers->mutex);
    while (answers->count < count)
        pthread_cond_wait(&answers->changed, &answers->mutex);
    pthread_mutex_unlock(&answers->mutex);
}

static size_t count_of(struct answers *answers) {
    pthread_mutex_lock(&answers->mutex);
    size_t count = answers->count;
    pthread_mutex_unlock(&answers->mutex);
    return count;
}

#define ANSWERS                                                                                    \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

static void ask_and_wait(struct jq *jq, struct asked *asked, const char *program,
                         const char *input) {
    struct answers answers = ANSWERS;
    ask(jq, asked, &answers, program, input);
    wait_for(&answers, 1);
}

static struct jq *new_pool(size_t helpers, int64_t timeout_ms) {
    return jq_pool_new(&(struct jq_pool_options){
        .program = helper_program, .helpers = helpers, .timeout_ms = timeout_ms});
}

static void free_pool(struct jq *jq) {
    jq->vtable->free(jq);
}

static void assert_output(struct jq *jq, const char *program, const char *input,
                          const char *expected) {
    struct asked asked;
    ask_and_wait(jq, &asked, program, input);
    if (asked.status != STATUS_OK)
        fail_msg("%s: %s", program, asked.err.text);
    assert_bytes(buf_view(&asked.output), expected);
    buf_free(&asked.output);
}

static void assert_invalid(struct jq *jq, const char *program, const char *part) {
    struct asked asked;
    ask_and_wait(jq, &asked, program, "{}");
    assert_int_equal(asked.status, STATUS_INVALID);
    assert_false(asked.truthy);
    if (!strstr(asked.err.text, part))
        fail_msg("%s: %s", program, asked.err.text);
    buf_free(&asked.output);
}

/* The process that is this one's child; 0: there is none. */
static pid_t only_child(void) {
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task");
    DIR *tasks = opendir(path);
    pid_t found = 0;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(text, sizeof text, file))
            found = (pid_t)atol(text);
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return found;
}

/* ---- tests ---- */

static void a_program_runs_on_its_input(void **state) {
    (void)state;
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, ".a + 1", "{\"a\":1}", "2");
    assert_output(jq, ".a == 9007199254740993", "{\"a\":9007199254740992}", "false");
    assert_invalid(jq, ".a |", "syntax error");
    assert_invalid(jq, "error(\"x\")", "x");
    free_pool(jq);
}

static void a_check_compiles_without_running(void **state) {
    (void)state;
    struct jq *jq = new_pool(1, PATIENT_MS);
    struct err err;
    assert_int_equal(jq_check(jq, BYTES("error(\"not run\")"), &err), STATUS_OK);
    assert_int_equal(jq_check(jq, BYTES(".a b"), &err), STATUS_INVALID);
    assert_non_null(strstr(err.text, "syntax error"));
    free_pool(jq);
}

static void a_program_without_an_end_is_stopped(void **state) {
    (void)state;
    static const char *const endless[] = {"[repeat(.)]", "def f: f; f", "last(range(1e18))",
                                          "until(false; .)"};
    struct jq *jq = new_pool(1, SHORT_MS);
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        struct asked asked;
        ask_and_wait(jq, &asked, endless[i], "{}");
        assert_int_equal(asked.status, STATUS_INVALID);
        assert_true(strstr(asked.err.text, "took longer than 300 ms") ||
                    strstr(asked.err.text, "too much memory"));
        buf_free(&asked.output);
    }
    free_pool(jq);
}

static int64_t us_of(struct timeval time) {
    return time.tv_sec * INT64_C(1000000) + time.tv_usec;
}

/* The CPU time of the processes that have ended. */
static int64_t taken_us(void) {
    struct rusage ended;
    getrusage(RUSAGE_CHILDREN, &ended);
    return us_of(ended.ru_utime) + us_of(ended.ru_stime);
}

/* As on a machine that is too busy for it: it stands for longer than it may run. */
static void a_program_is_given_its_time_of_the_processor(void **state) {
    enum { STOPS = 8, STOP_MS = 50 };
    (void)state;
    const struct timespec stop = {.tv_nsec = STOP_MS * 1000000L}, go = {.tv_nsec = 1000000};
    struct answers answers = ANSWERS;
    struct asked asked;
    struct jq *jq = new_pool(1, SHORT_MS);
    assert_output(jq, "1", "{}", "1");
    pid_t helper = only_child();
    int64_t before = taken_us();
    ask(jq, &asked, &answers, "def f: f; f", "{}");
    for (int i = 0; i < STOPS && count_of(&answers) == 0; i++) {
        nanosleep(&go, NULL);
        kill(helper, SIGSTOP);
        nanosleep(&stop, NULL);
        kill(helper, SIGCONT);
    }
    wait_for(&answers, 1);
    assert_true(taken_us() - before >= SHORT_MS * 1000);
    assert_int_equal(asked.status, STATUS_INVALID);
    buf_free(&asked.output);
    free_pool(jq);
}

static void the_start_of_a_helper_does_not_count(void **state) {
    (void)state;
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){
        .program = slow_helper_program, .helpers = 1, .timeout_ms = LESS_THAN_A_SLOW_START_MS});
    assert_output(jq, "1 + 1", "{}", "2");
    free_pool(jq);
}

/* Each of so many definitions is looked for in each of so many places. */
static void compiling_does_not_count(void **state) {
    enum { MANY = 1200, ROOM = 16 };
    (void)state;
    struct buf program;
    buf_init_heap(&program, (size_t)MANY * ROOM);
    for (size_t i = 0; i < MANY; i++)
        buf_str(&program, "def f: 1;");
    for (size_t i = 0; i < MANY; i++)
        buf_str(&program, "f,");
    buf_str(&program, "2");
    struct jq *jq = new_pool(1, LESS_THAN_COMPILING_MS);
    assert_output(jq, buf_cstr(&program), "{}", "1");
    free_pool(jq);
    buf_free(&program);
}

static void the_pool_works_on_after_a_program_was_stopped(void **state) {
    (void)state;
    struct jq *jq = new_pool(1, SHORT_MS);
    assert_invalid(jq, "def f: f; f", "took longer than 300 ms");
    assert_output(jq, "1 + 1", "{}", "2");
    free_pool(jq);
}

static void a_program_that_takes_all_memory_ends_alone(void **state) {
    (void)state;
    static const char *const hogs[] = {"\"x\" * 1000000000", "[range(1e9)]", "def f: 1 + f; f",
                                       "reduce range(1e7) as $i (null; [.])"};
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){.program = helper_program,
                                                          .helpers = 2,
                                                          .timeout_ms = 1500,
                                                          .memory_bytes = 64 * 1024 * 1024});
    for (size_t i = 0; i < sizeof hogs / sizeof hogs[0]; i++)
        assert_invalid(jq, hogs[i], "the jq program");
    free_pool(jq);
}

static void a_result_has_a_limit(void **state) {
    (void)state;
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){
        .program = helper_program, .helpers = 1, .timeout_ms = PATIENT_MS, .output_max = 1000});
    assert_invalid(jq, "\"x\" * 2000", "larger than 1000 bytes");
    assert_output(jq, "\"x\" * 3", "{}", "\"xxx\"");
    free_pool(jq);
}

static void a_program_sees_no_environment_and_no_files(void **state) {
    (void)state;
    setenv("IMPOUND_TEST_SECRET", "s3cret", 1);
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, "env", "{}", "{}");
    assert_output(jq, "$ENV", "{}", "{}");
    assert_output(jq, "get_search_list", "{}", "[]");
    assert_invalid(jq, "import \"a\" as a; 1", "module not found");
    assert_invalid(jq, "include \"a\"; 1", "module not found");
    assert_invalid(jq, "import \"passwd\" as $p {search: \"/etc\"}; $p", "module not found");
    assert_output(jq, "stderr", "{}", "{}");
    assert_output(jq, "debug", "{}", "{}");
    assert_output(jq, "[inputs]", "{}", "[]");
    assert_output(jq, "halt", "{}", "");
    assert_output(jq, "1", "{}", "1");
    free_pool(jq);
}

static void a_large_input_goes_through(void **state) {
    (void)state;
    enum { LARGE = 4 * 1024 * 1024 };
    char *input = calloc(1, LARGE + 3);
    memset(input, 'x', LARGE + 2);
    input[0] = input[LARGE + 1] = '"';
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, "length", input, "4194304");
    assert_output(jq, ".", input, input);
    free_pool(jq);
    free(input);
}

static void hostile_input_is_an_error_and_no_more(void **state) {
    (void)state;
    enum { DEEP = 100000 };
    char *deep = calloc(1, DEEP + 1);
    memset(deep, '[', DEEP);
    static const char *const bad[] = {"", "{", "\"\xff\"", "nul", "1 2", "{\"a\":1}}", "[1,]"};
    struct jq *jq = new_pool(1, PATIENT_MS);
    struct asked asked;
    ask_and_wait(jq, &asked, ".", deep);
    assert_int_equal(asked.status, STATUS_INVALID);
    buf_free(&asked.output);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        ask_and_wait(jq, &asked, ".", bad[i]);
        buf_free(&asked.output);
    }
    assert_output(jq, ".", "7", "7");
    free_pool(jq);
    free(deep);
}

static void many_jobs_at_once_all_end(void **state) {
    (void)state;
    static struct asked asked[JOBS];
    static char inputs[JOBS][16];
    struct answers answers = ANSWERS;
    struct jq *jq = new_pool(4, PATIENT_MS);
    for (size_t i = 0; i < JOBS; i++) {
        snprintf(inputs[i], sizeof inputs[i], "%zu", i);
        ask(jq, &asked[i], &answers, ". * 2", inputs[i]);
    }
    wait_for(&answers, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        char expected[16];
        snprintf(expected, sizeof expected, "%zu", i * 2);
        assert_int_equal(asked[i].status, STATUS_OK);
        assert_bytes(buf_view(&asked[i].output), expected);
        buf_free(&asked[i].output);
    }
    free_pool(jq);
}

/* Keeps the pool from handing anything over until it is let. */
static void hold_manager(struct jq_job *job, enum status status, bool truthy, struct bytes output,
                         const struct err *err) {
    (void)status, (void)truthy, (void)output, (void)err;
    sem_wait(job->arg);
}

static void kill_helpers_until(struct answers *answers, size_t count) {
    while (count_of(answers) < count) {
        pid_t helper = only_child();
        if (helper > 0)
            kill(helper, SIGKILL);
    }
}

/* Three endless ones wait before it; it is through before any of them is. */
static void a_slow_program_does_not_hold_up_others(void **state) {
    enum { SLOW = 3 };
    (void)state;
    struct jq *jq = new_pool(2, PATIENT_MS);
    struct answers slow = ANSWERS, quick = ANSWERS;
    struct asked waiting[SLOW], asked;
    sem_t all_wait;
    sem_init(&all_wait, 0, 0);
    struct jq_job first = {.program = BYTES("1"), .done = hold_manager, .arg = &all_wait};
    jq->vtable->start(jq, &first);
    for (size_t i = 0; i < SLOW; i++)
        ask(jq, &waiting[i], &slow, "def f: f; f", "1");
    ask(jq, &asked, &quick, ". + 1", "1");
    sem_post(&all_wait);
    wait_for(&quick, 1);
    assert_int_equal(count_of(&slow), 0);
    assert_int_equal(asked.status, STATUS_OK);
    kill_helpers_until(&slow, SLOW);
    for (size_t i = 0; i < SLOW; i++)
        buf_free(&waiting[i].output);
    buf_free(&asked.output);
    free_pool(jq);
    sem_destroy(&all_wait);
}

static void a_helper_that_was_killed_while_idle_is_replaced(void **state) {
    (void)state;
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, "1", "{}", "1");
    pid_t helper = only_child();
    assert_true(helper > 0);
    kill(helper, SIGKILL);
    assert_output(jq, "2", "{}", "2");
    assert_output(jq, "3", "{}", "3");
    assert_true(only_child() != helper);
    free_pool(jq);
}

static void a_helper_has_a_successor_before_it_is_needed(void **state) {
    (void)state;
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, "1", "{}", "1");
    pid_t helper = only_child(), next = helper;
    kill(helper, SIGKILL);
    while (next == 0 || next == helper)
        next = only_child();
    assert_output(jq, "2", "{}", "2");
    assert_int_equal(only_child(), next);
    free_pool(jq);
}

/* libjq 1.6 loses the elements of a list in which a value is looked for: seventy times a megabyte
 * is more than the helper may have. (With sanitizers there is no limit.) */
static void a_helper_that_has_grown_is_replaced_between_two_jobs(void **state) {
    enum { TIMES = 70 };
    (void)state;
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){.program = helper_program,
                                                          .helpers = 1,
                                                          .timeout_ms = PATIENT_MS,
                                                          .memory_bytes = 64 * 1024 * 1024});
    for (size_t i = 0; i < TIMES; i++)
        assert_output(jq, "[. * 100000] | index(1)", "\"0123456789\"", "null");
    free_pool(jq);
}

static void a_helper_that_was_killed_at_work_fails_its_job_alone(void **state) {
    (void)state;
    struct answers answers = ANSWERS;
    struct asked asked;
    struct jq *jq = new_pool(1, PATIENT_MS);
    assert_output(jq, "1", "{}", "1");
    pid_t helper = only_child();
    ask(jq, &asked, &answers, "def f: f; f", "{}");
    kill(helper, SIGKILL);
    kill_helpers_until(&answers, 1); /* the job gets a second one; then it is over */
    assert_int_equal(asked.status, STATUS_INVALID);
    buf_free(&asked.output);
    assert_output(jq, "2", "{}", "2");
    free_pool(jq);
}

static void a_pool_that_was_never_used_can_be_freed(void **state) {
    (void)state;
    free_pool(new_pool(3, PATIENT_MS));
    assert_int_equal(only_child(), 0);
}

static void no_helper_outlives_its_pool(void **state) {
    (void)state;
    struct jq *jq = new_pool(2, PATIENT_MS);
    assert_output(jq, "1", "{}", "1");
    assert_true(only_child() > 0);
    free_pool(jq);
    assert_int_equal(only_child(), 0);
}

static void a_helper_that_cannot_be_started_is_said_so(void **state) {
    (void)state;
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){
        .program = "/nonexistent/impound", .helpers = 1, .timeout_ms = PATIENT_MS});
    assert_invalid(jq, ".", "could not be started");
    assert_invalid(jq, ".", "could not be started");
    free_pool(jq);
}

int main(int count, char **arguments) {
    assert_int_equal(count, 3);
    helper_program = arguments[1];
    slow_helper_program = arguments[2];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_runs_on_its_input),
        cmocka_unit_test(a_check_compiles_without_running),
        cmocka_unit_test(a_program_without_an_end_is_stopped),
        cmocka_unit_test(a_program_is_given_its_time_of_the_processor),
        cmocka_unit_test(the_start_of_a_helper_does_not_count),
        cmocka_unit_test(compiling_does_not_count),
        cmocka_unit_test(the_pool_works_on_after_a_program_was_stopped),
        cmocka_unit_test(a_program_that_takes_all_memory_ends_alone),
        cmocka_unit_test(a_result_has_a_limit),
        cmocka_unit_test(a_program_sees_no_environment_and_no_files),
        cmocka_unit_test(a_large_input_goes_through),
        cmocka_unit_test(hostile_input_is_an_error_and_no_more),
        cmocka_unit_test(many_jobs_at_once_all_end),
        cmocka_unit_test(a_slow_program_does_not_hold_up_others),
        cmocka_unit_test(a_helper_that_was_killed_while_idle_is_replaced),
        cmocka_unit_test(a_helper_has_a_successor_before_it_is_needed),
        cmocka_unit_test(a_helper_that_has_grown_is_replaced_between_two_jobs),
        cmocka_unit_test(a_helper_that_was_killed_at_work_fails_its_job_alone),
        cmocka_unit_test(a_pool_that_was_never_used_can_be_freed),
        cmocka_unit_test(no_helper_outlives_its_pool),
        cmocka_unit_test(a_helper_that_cannot_be_started_is_said_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
