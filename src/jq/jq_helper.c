/* jq_helper: the helper's side of the pool, in a process of its own.
 *
 * The pool has already emptied the environment and limited memory and core size. Limits that would
 * stop the dynamic loader are set here: from now on no file can be opened or written. */
#include "jq/jq_pool.h"

#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "jq/jq_run.h"
#include "jq/jq_wire.h"

enum {
    FILES_OPEN = 3,
    KEPT_PROGRAMS = 64,
    MS_A_SECOND = 1000,
    NS_A_MS = 1000000,
    SHARE_IN_USE = 4, /* between two jobs at most a quarter of the memory may be in use */
};

static void forbid_files(void) {
    const struct rlimit no_more = {FILES_OPEN, FILES_OPEN}, no_bytes = {0, 0};
    if (setrlimit(RLIMIT_NOFILE, &no_more) != 0 || setrlimit(RLIMIT_FSIZE, &no_bytes) != 0)
        abort();
}

/* RLIMIT_CPU counts whole seconds since the start of the process, so each part of a job raises the
 * limit. */
static void allow_cpu(uint32_t ms) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    rlim_t so_far = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 2);
    setrlimit(RLIMIT_CPU, &(struct rlimit){so_far + ms / MS_A_SECOND, RLIM_INFINITY});
}

/* The timer of CPU time whose end is SIGPROF. Not ITIMER_PROF: that one is charged by whole ticks
 * of the kernel, and on a busy machine ends a program some ticks before its time. */
static timer_t new_timer(void) {
    struct sigevent end = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGPROF};
    timer_t timer;
    if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &end, &timer) != 0)
        abort();
    return timer;
}

/* SIGPROF ends this process after so much CPU time; 0: never. CPU time instead of elapsed time, so
 * that a busy machine does not fail a program, which itself never waits. */
static void set_timer(timer_t timer, uint32_t ms) {
    struct itimerspec once = {
        .it_value = {.tv_sec = ms / MS_A_SECOND, .tv_nsec = ms % MS_A_SECOND * NS_A_MS}};
    if (timer_settime(timer, 0, &once, NULL) != 0)
        abort();
}

/* libjq leaks memory in some functions (`index` on a list, in 1.6). */
static bool has_grown_too_large(void) {
    struct rlimit most;
    struct mallinfo2 heap = mallinfo2();
    return getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY &&
           heap.uordblks + heap.hblkhd > most.rlim_cur / SHARE_IN_USE;
}

/* In one write, so that the pool wakes once. */
static bool send_answer(struct jq_answer head, struct bytes text) {
    struct buf whole;
    buf_init_heap(&whole, sizeof head + text.len);
    head.len = (uint32_t)text.len;
    buf_put(&whole, &head, sizeof head);
    buf_bytes(&whole, text);
    bool told = jq_wire_write(STDOUT_FILENO, whole.ptr, whole.len);
    buf_free(&whole);
    return told;
}

static bool run_timed(struct jq_run *run, const struct jq_request *request, timer_t timer,
                      struct buf *out, bool *truthy) {
    allow_cpu(request->timeout_ms);
    set_timer(timer, request->timeout_ms);
    bool ok = jq_run_go(run, request->output_max, out, truthy);
    set_timer(timer, 0);
    return ok;
}

/* False: the helper exits. */
static bool serve(struct jq_run *run, const struct jq_request *request, const char *memory,
                  timer_t timer) {
    struct bytes program = {memory, request->program_len};
    struct bytes input = {memory + request->program_len, request->input_len};
    struct buf out;
    buf_init_heap(&out, (size_t)request->output_max + JQ_ERROR_MAX);
    bool truthy = false;
    bool ok = jq_run_prepare(run, program, input, &out) &&
              (request->compile_only || run_timed(run, request, timer, &out, &truthy));
    struct bytes text = ok ? buf_view(&out) : bytes_clip(buf_view(&out), JQ_ERROR_MAX);
    struct jq_answer head = {.failed = !ok, .truthy = truthy, .last = has_grown_too_large()};
    bool told = send_answer(head, text);
    buf_free(&out);
    return told && !head.last;
}

int jq_helper_main(void) {
    forbid_files();
    timer_t timer = new_timer();
    struct jq_run *run = jq_run_new(KEPT_PROGRAMS);
    struct jq_request request;
    bool going = send_answer((struct jq_answer){0}, BYTES_NONE);
    while (going && jq_wire_read(STDIN_FILENO, &request, sizeof request)) {
        size_t len = (size_t)request.program_len + request.input_len;
        char *memory = memory_new(len + 1);
        allow_cpu(JQ_PREPARE_MS);
        going = jq_wire_read(STDIN_FILENO, memory, len) && serve(run, &request, memory, timer);
        free(memory);
    }
    jq_run_free(run);
    return 0;
}
