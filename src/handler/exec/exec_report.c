/* exec_report: see the header. */
#include "handler/exec/exec_report.h"

#include <assert.h>
#include <string.h>

#include "base/instant.h"
#include "base/json/json.h"
#include "core/trace/trace.h"
#include "handler/common/foreign_text.h"

static struct bytes kept(struct buf *text, struct arena *arena) {
    struct bytes copy = arena_dup(arena, bytes_clip(buf_view(text), OUTCOME_MESSAGE_MAX));
    buf_free(text);
    return copy;
}

/* Node ends its output with a version line, which says nothing about the error. */
static struct bytes last_line(struct bytes said) {
    struct bytes line, last = BYTES_NONE;
    while (bytes_line(&said, &line)) {
        line = bytes_trim(line);
        if (line.len > 0 && !bytes_starts(line, BYTES("Node.js v")))
            last = line;
    }
    return bytes_clip(last, OUTCOME_MESSAGE_MAX);
}

/* "exit status 75", "killed by signal 11 (SIGSEGV)" */
static struct bytes describe(const struct exec_end *end, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, OUTCOME_MESSAGE_MAX);
    buf_printf(&text, end->signalled ? "killed by signal %d" : "exit status %d", end->code);
    const char *name = end->signalled ? sigabbrev_np(end->code) : NULL;
    if (name)
        buf_printf(&text, " (SIG%s)", name);
    return kept(&text, arena);
}

static void read_said(const struct exec_end *end, struct bytes said, struct arena *arena,
                      struct outcome *out) {
    said = text_safe(said, arena);
    struct trace trace;
    if (trace_find(said, &trace)) {
        out->error_type = bytes_clip(trace.error_type, OUTCOME_TYPE_MAX);
        out->error_message = bytes_clip(trace.error_message, OUTCOME_MESSAGE_MAX);
        out->stack_trace = trace_tail(trace.text);
        return;
    }
    out->error_message = last_line(said);
    if (out->error_message.len == 0)
        out->error_message = describe(end, arena);
}

static struct bytes timeout_text(int64_t timeout_ms, struct arena *arena) {
    struct buf text;
    buf_init_heap(&text, OUTCOME_MESSAGE_MAX);
    buf_str(&text, "killed: it did not end within ");
    duration_put(&text, timeout_ms);
    return kept(&text, arena);
}

void exec_report_end(const struct exec_end *end, struct bytes said, struct arena *arena,
                     struct outcome *out) {
    *out = (struct outcome){.ending = ENDING_FAILED, .retry_after_ms = -1};
    if (end->stop == EXEC_STOP_CANCEL) {
        out->ending = ENDING_INTERRUPTED;
    } else if (end->stop == EXEC_STOP_TIMEOUT) {
        out->kind = KIND_TIMEOUT;
        out->error_message = timeout_text(end->timeout_ms, arena);
    } else if (end->signalled) {
        out->kind = KIND_SIGNAL;
        out->signal = end->code;
        read_said(end, said, arena, out);
    } else if (end->code != 0) {
        out->kind = KIND_EXIT;
        out->exit_code = end->code;
        read_said(end, said, arena, out);
    } else {
        out->ending = ENDING_OK;
    }
}

void exec_report_answer(struct bytes answer, struct outcome *out) {
    struct json value;
    out->answer = answer;
    if (json_parse(answer, &value, NULL) == STATUS_OK)
        out->answer_type = BYTES("application/json");
    else if (bytes_is_utf8(answer))
        out->answer_type = BYTES("text/plain; charset=utf-8");
    else
        out->answer_type = BYTES("application/octet-stream");
}

static void set_unrunnable(struct buf *text, struct arena *arena, struct outcome *out) {
    *out = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_EXIT,
        .exit_code = EXEC_UNRUNNABLE_EXIT,
        .retry_after_ms = -1,
    };
    out->error_message = kept(text, arena);
}

void exec_report_unrunnable(const char *program, int error, struct arena *arena,
                            struct outcome *out) {
    assert(error != 0);
    struct buf text;
    buf_init_heap(&text, OUTCOME_MESSAGE_MAX);
    buf_printf(&text, "cannot run %.1024s: %s", program, strerrordesc_np(error));
    set_unrunnable(&text, arena, out);
}

void exec_report_stillborn(const char *program, const struct exec_end *end, struct bytes said,
                           struct arena *arena, struct outcome *out) {
    struct bytes last = last_line(text_safe(said, arena));
    struct buf text;
    buf_init_heap(&text, OUTCOME_MESSAGE_MAX);
    if (last.len)
        buf_printf(&text, "%.*s: ", BYTES_ARG(bytes_clip(last, OUTCOME_MESSAGE_MAX / 2)));
    buf_printf(&text, "%.*s of %.512s before it read a message", BYTES_ARG(describe(end, arena)),
               program);
    set_unrunnable(&text, arena, out);
}

void exec_report_breach(const char *what, struct outcome *out) {
    *out = (struct outcome){
        .ending = ENDING_FAILED,
        .kind = KIND_REPORTED,
        .error_type = BYTES(EXEC_BREACH_TYPE),
        .error_message = bytes_of(what),
        .retry_after_ms = -1,
    };
}

void exec_report_no_room(int64_t timeout_ms, int error, struct arena *arena, struct outcome *out) {
    assert(error != 0 && timeout_ms > 0);
    *out = (struct outcome){.ending = ENDING_FAILED, .kind = KIND_TIMEOUT, .retry_after_ms = -1};
    struct buf text;
    buf_init_heap(&text, OUTCOME_MESSAGE_MAX);
    buf_str(&text, "no process could be started within ");
    duration_put(&text, timeout_ms);
    buf_printf(&text, ": %s", strerrordesc_np(error));
    out->error_message = kept(&text, arena);
}
