#include "handler/exec_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/http_field.h"
#include "base/memory.h"
#include "base/traceparent.h"

static const char *const own_names[] = {
    "IMPOUND_MESSAGE_ID=", "IMPOUND_QUEUE=",    "IMPOUND_KEY=", "IMPOUND_ATTEMPT=",
    "IMPOUND_REPLAY=",     "IMPOUND_FALLBACK=", "TRACEPARENT=", "TRACESTATE=",
};
enum {
    OWN_COUNT = sizeof own_names / sizeof *own_names,
    ALWAYS_COUNT = OWN_COUNT - 2, /* the last two only where the message belongs to a trace */
};

static bool is_own(const char *entry) {
    for (size_t i = 0; i < OWN_COUNT; i++) {
        if (strncmp(entry, own_names[i], strlen(own_names[i])) == 0)
            return true;
    }
    return false;
}

void exec_env_init(struct exec_env *env) {
    size_t count = 0;
    while (environ && environ[count])
        count++;
    *env = (struct exec_env){.inherited = memory_array(count + 1, sizeof *env->inherited)};
    for (size_t i = 0; i < count; i++) {
        if (!is_own(environ[i]))
            env->inherited[env->count++] = environ[i];
    }
}

void exec_env_free(struct exec_env *env) {
    free(env->inherited);
}

static struct bytes number_text(uint32_t value, struct arena *arena) {
    char memory[16];
    struct buf text;
    buf_init_fixed(&text, memory, sizeof memory);
    buf_printf(&text, "%u", value);
    return arena_dup(arena, buf_view(&text));
}

static char *entry(const char *name, struct bytes value, struct arena *arena) {
    size_t name_len = strlen(name);
    char *text = arena_alloc(arena, name_len + value.len + 1);
    memcpy(text, name, name_len);
    if (value.len > 0)
        memcpy(text + name_len, value.ptr, value.len);
    return text;
}

/* The environment has no room for strange headers; these two have a meaning there. */
static void read_trace(const struct call *call, struct bytes *parent, struct bytes *trace_state) {
    struct traceparent parsed;
    *parent = *trace_state = BYTES_NONE;
    for (size_t i = 0; i < call->header_count; i++) {
        if (bytes_eq_nocase(call->headers[i].name, BYTES("traceparent")))
            *parent = bytes_trim(call->headers[i].value);
        if (bytes_eq_nocase(call->headers[i].name, BYTES("tracestate")))
            *trace_state = call->headers[i].value;
    }
    if (!http_field_is_value(*parent) || !traceparent_parse(*parent, &parsed))
        *parent = *trace_state = BYTES_NONE;
    if (!http_field_is_value(*trace_state))
        *trace_state = BYTES_NONE;
}

char **exec_env_for(const struct exec_env *env, const struct call *call, struct arena *arena) {
    struct bytes parent, trace_state;
    read_trace(call, &parent, &trace_state);
    const struct bytes values[OWN_COUNT] = {
        call->id,
        call->queue,
        call->key,
        number_text(call->attempt, arena),
        number_text(call->replay, arena),
        number_text(call->fallback, arena),
        parent,
        trace_state,
    };
    char **all = arena_alloc(arena, (env->count + OWN_COUNT + 1) * sizeof *all);
    memcpy(all, env->inherited, env->count * sizeof *all);
    size_t count = env->count;
    for (size_t i = 0; i < OWN_COUNT; i++)
        if (i < ALWAYS_COUNT || values[i].len > 0)
            all[count++] = entry(own_names[i], values[i], arena);
    return all;
}
