/* help: prints usage from the table of verbs. */
#include "cli/help.h"

#include "cli/view/safe_text.h"
#include "cli/verbs.h"

enum { NAME_WIDTH = 12, OPTION_WIDTH = 24, OPTION_TEXT_MAX = 64 };

static void put_option(const struct options_row *row, FILE *to) {
    char text[OPTION_TEXT_MAX], letter[] = "   ";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c,", row->letter);
    snprintf(text, sizeof text, "%.3s --%s%s%s", letter, row->name, row->value ? " " : "",
             row->value ? row->value : "");
    size_t width = text_width(bytes_of(text));
    fprintf(to, "  %s%*s  %s\n", text, width < OPTION_WIDTH ? (int)(OPTION_WIDTH - width) : 0, "",
            row->help);
}

static void put_options(const char *title, const struct options_row *rows, FILE *to) {
    fprintf(to, "\n%s:\n", title);
    for (const struct options_row *row = rows; row->name; row++)
        put_option(row, to);
}

void help_all(const struct cli_env *env, FILE *to) {
    fprintf(to,
            "impound %s: retries what can succeed, parks what cannot, loses nothing.\n\n"
            "usage: impound VERB [ARGUMENTS] [OPTIONS]\n\nverbs:\n",
            env->build->version);
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = verbs_at(env->local, i)); i++)
        fprintf(to, "  %-*s %s\n", NAME_WIDTH, verb->name, verb->summary);
    put_options("options of every verb", options_global, to);
    fprintf(to, "\nTry: impound help push\n"
                "Exit codes: 0 done, 1 refused or failed, 2 usage, 3 server unreachable, 4 not "
                "found.\n");
}

void help_verb(const struct cli_verb *verb, FILE *to) {
    fprintf(to, "usage: impound %s%s\n\n%s: %s\n\n%s\n", verb->usage,
            verb->options ? " [OPTIONS]" : "", verb->name, verb->summary, verb->help);
    if (verb->options)
        put_options("options", verb->options, to);
    put_options("options of every verb", options_global, to);
}

void help_usage(const struct cli_env *env, const char *name, FILE *to) {
    const struct cli_verb *verb = verbs_find(env->local, name);
    if (verb)
        fprintf(to, "usage: impound %s%s\n`impound help %s` says more.\n", verb->usage,
                verb->options ? " [OPTIONS]" : "", verb->name);
    else
        fprintf(to, "usage: impound VERB [ARGUMENTS] [OPTIONS]\n`impound help` lists the verbs.\n");
}
