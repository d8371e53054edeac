/* exec_env: see the header. */
#include "handler/exec/exec_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text/base64.h"
#include "base/text/http_field.h"
#include "base/memory.h"
#include "base/text/traceparent.h"

static const char *const own_names[] = {
    "IMPOUND_MESSAGE_ID=", "IMPOUND_QUEUE=",    "IMPOUND_KEY=",       "IMPOUND_ATTEMPT=",
    "IMPOUND_REPLAY=",     "IMPOUND_FALLBACK=", "IMPOUND_TOMBSTONE=", "IMPOUND_BASE64=",
    "TRACEPARENT=",        "TRACESTATE=",
};
enum {
    OWN_COUNT = sizeof own_names / sizeof *own_names,
    ALWAYS_COUNT = OWN_COUNT - 4, /* the others only if they have a value */
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

/* Of the message's headers only these two are passed in the environment. */
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

/* An environment cannot hold a NUL, and few programs expect binary values. */
static struct bytes key_text(struct bytes key, bool *encoded, struct arena *arena) {
    *encoded = !bytes_is_utf8(key) || (key.len > 0 && memchr(key.ptr, 0, key.len));
    if (!*encoded)
        return key;
    struct buf text;
    buf_init_heap(&text, 2 * key.len + 4);
    base64_encode(key, &text);
    struct bytes copy = arena_dup(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

char **exec_env_for(const struct exec_env *env, const struct call *call, struct arena *arena) {
    struct bytes parent, trace_state;
    bool encoded;
    struct bytes key = key_text(call->key, &encoded, arena);
    read_trace(call, &parent, &trace_state);
    const struct bytes values[OWN_COUNT] = {
        call->id,
        call->queue,
        key,
        number_text(call->attempt, arena),
        number_text(call->replay, arena),
        number_text(call->fallback, arena),
        call->tombstone ? BYTES("true") : BYTES_NONE,
        encoded ? BYTES("IMPOUND_KEY") : BYTES_NONE,
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
