/* jq_helper: the other side of the pool, in a process of its own.
 *
 * The pool has already emptied the environment and limited memory and core; what needs the loader
 * to be done first is limited here: no file can be opened or written from now on. */
#include "jq/jq_pool.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/memory.h"
#include "jq/jq_run.h"
#include "jq/jq_wire.h"

enum { FILES_OPEN = 3 };

static void forbid_files(void) {
    const struct rlimit no_more = {FILES_OPEN, FILES_OPEN}, no_bytes = {0, 0};
    if (setrlimit(RLIMIT_NOFILE, &no_more) != 0 || setrlimit(RLIMIT_FSIZE, &no_bytes) != 0)
        abort();
}

/* CPU time is counted over the process's life, so each job moves the limit on. */
static void allow_cpu(uint32_t seconds) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    rlim_t so_far = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1);
    setrlimit(RLIMIT_CPU, &(struct rlimit){so_far + seconds, RLIM_INFINITY});
}

static bool answer(bool ok, bool truthy, struct bytes text) {
    struct jq_answer head = {.failed = !ok, .truthy = truthy, .len = (uint32_t)text.len};
    return jq_wire_write(STDOUT_FILENO, &head, sizeof head) &&
           jq_wire_write(STDOUT_FILENO, text.ptr, text.len);
}

static bool serve(struct jq_run *run, const struct jq_request *request, const char *memory) {
    struct bytes program = {memory, request->program_len};
    struct bytes input = {memory + request->program_len, request->input_len};
    struct buf out;
    buf_init_heap(&out, (size_t)request->output_max + JQ_ERROR_MAX);
    bool truthy = false;
    bool ok = request->compile_only
                  ? jq_run_check(run, program, &out)
                  : jq_run_once(run, program, input, request->output_max, &out, &truthy);
    struct bytes text = buf_view(&out);
    bool told = answer(ok, truthy, ok ? text : bytes_clip(text, JQ_ERROR_MAX));
    buf_free(&out);
    return told;
}

int jq_helper_main(void) {
    forbid_files();
    struct jq_run *run = jq_run_new();
    struct jq_request request;
    bool going = true;
    while (going && jq_wire_read(STDIN_FILENO, &request, sizeof request)) {
        size_t len = (size_t)request.program_len + request.input_len;
        char *memory = memory_new(len + 1);
        allow_cpu(request.cpu_seconds);
        going = jq_wire_read(STDIN_FILENO, memory, len) && serve(run, &request, memory);
        free(memory);
    }
    jq_run_free(run);
    return 0;
}
