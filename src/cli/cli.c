/* cli: finds the verb and runs it. */
#include "cli/cli.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/view/terminal.h"
#include "cli/verbs.h"

#define DEFAULT_URL "http://127.0.0.1:7070"

static int no_such_verb(const struct cli_env *env, const char *name) {
    const char *nearest = verbs_nearest(env->local, name);
    if (nearest)
        return command_usage(env, name, "unknown verb \"%s\"; did you mean \"%s\"?", name, nearest);
    return command_usage(env, name, "unknown verb \"%s\"", name);
}

/* The verb is the first word that is neither a global option nor the value of one. */
static int find_verb(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-')
            return i;
        if (strcmp(argv[i], "--url") == 0)
            i++;
    }
    return 0;
}

/* Moves argv[from] to the front, after the program's name. */
static void bring_forward(char **argv, int from) {
    char *word = argv[from];
    memmove(argv + 2, argv + 1, (size_t)(from - 1) * sizeof *argv);
    argv[1] = word;
}

static void fill_in(struct cli_env *env, const struct options *globals) {
    const char *set = getenv("IMPOUND_URL");
    const char *given = options_get(globals, "url");
    env->url = given ? given : set && *set ? set : DEFAULT_URL;
    env->json = options_has(globals, "json");
}

/* Without a verb: help, the version, or an error. */
static int run_bare(struct cli_env *env, int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--version") == 0)
        return verbs_find(env->local, "version")->run(env, 1, argv + 1);
    struct options globals;
    struct err err;
    int left = options_take_global(NULL, argc, argv, &globals, &err);
    bool help = left == 1;
    options_free(&globals);
    if (left > 1)
        return command_usage(env, "", "unknown option %s", argv[1]);
    if (!help)
        return command_usage(env, "", "%s", err.text);
    help_all(env, stdout);
    return 0;
}

static int run_verb(struct cli_env *env, const struct cli_verb *verb, int argc, char **argv) {
    struct options globals;
    struct err err;
    int code;
    argc = options_take_global(verb->options, argc, argv, &globals, &err);
    if (argc < 0) {
        code = command_usage(env, verb->name, "%s", err.text);
    } else if (options_has(&globals, "help")) {
        help_verb(verb, stdout);
        code = 0;
    } else {
        fill_in(env, &globals);
        code = verb->run(env, argc, argv);
    }
    options_free(&globals);
    return code;
}

int cli_main(int argc, char **argv, const struct cli_verb *local, const struct cli_build *build) {
    struct cli_env env = {
        .url = DEFAULT_URL, .color = terminal_color(), .build = build, .local = local};
    /* Output is always UTF-8; the locale is needed for the width of characters. */
    setlocale(LC_CTYPE, "C.UTF-8");
    int at = find_verb(argc, argv);
    if (at == 0)
        return run_bare(&env, argc, argv);
    bring_forward(argv, at);
    const struct cli_verb *verb = verbs_find(local, argv[1]);
    return verb ? run_verb(&env, verb, argc - 1, argv + 1) : no_such_verb(&env, argv[1]);
}
