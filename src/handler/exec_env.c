#include "handler/exec_env.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

static const char *const own_names[] = {
    "IMPOUND_MESSAGE_ID=", "IMPOUND_QUEUE=",  "IMPOUND_KEY=",
    "IMPOUND_ATTEMPT=",    "IMPOUND_REPLAY=", "IMPOUND_FALLBACK=",
};
enum { OWN_COUNT = sizeof own_names / sizeof *own_names };

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

char **exec_env_for(const struct exec_env *env, const struct call *call, struct arena *arena) {
    const struct bytes values[OWN_COUNT] = {
        call->id,
        call->queue,
        call->key,
        number_text(call->attempt, arena),
        number_text(call->replay, arena),
        number_text(call->fallback, arena),
    };
    char **all = arena_alloc(arena, (env->count + OWN_COUNT + 1) * sizeof *all);
    memcpy(all, env->inherited, env->count * sizeof *all);
    for (size_t i = 0; i < OWN_COUNT; i++)
        all[env->count + i] = entry(own_names[i], values[i], arena);
    return all;
}
