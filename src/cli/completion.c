/* completion: one generator per shell. */
#include "cli/completion.h"

#include <string.h>

#include "cli/verbs.h"

typedef void put_option(struct buf *out, const struct cli_verb *verb,
                        const struct options_row *row);
typedef void put_verb(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local);

/* The options of a verb, then those of every verb. */
static void each_option(struct buf *out, const struct cli_verb *verb, put_option *put) {
    for (const struct options_row *row = verb->options; row && row->name; row++)
        put(out, verb, row);
    for (const struct options_row *row = options_global; row->name; row++)
        put(out, verb, row);
}

static void each_verb(struct buf *out, const struct cli_verb *local, put_verb *put) {
    const struct cli_verb *verb;
    for (size_t i = 0; (verb = verbs_at(local, i)); i++)
        put(out, verb, local);
}

static bool takes_file(const struct options_row *row) {
    return row->value && strcmp(row->value, "FILE") == 0;
}

/* ---- a verb's arguments, from its usage: FILE, VERB, or lower-case words ---- */

static struct bytes arguments(const struct cli_verb *verb) {
    return bytes_of(verb->usage + strlen(verb->name));
}

static bool reads_files(const struct cli_verb *verb) {
    return bytes_starts(arguments(verb), BYTES(" FILE"));
}

static void put_name(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    (void)local;
    buf_printf(out, " %s", verb->name);
}

/* Each preceded by a space. */
static void put_arguments(struct buf *out, const struct cli_verb *verb,
                          const struct cli_verb *local) {
    struct bytes rest = arguments(verb);
    if (bytes_find(rest, BYTES("VERB")) < rest.len)
        each_verb(out, local, put_name);
    for (size_t at = 0, end; at < rest.len; at = end + 1) {
        for (end = at; end < rest.len && rest.ptr[end] >= 'a' && rest.ptr[end] <= 'z';)
            end++;
        if (end > at && rest.ptr[at - 1] != '-')
            buf_printf(out, " %.*s", BYTES_ARG(bytes_cut(rest, at, end)));
    }
}

/* A backslash before each character of `special`. */
static void put_escaped(struct buf *out, const char *text, const char *special) {
    for (; *text; text++) {
        if (strchr(special, *text))
            buf_char(out, '\\');
        buf_char(out, *text);
    }
}

/* ---- bash ---- */

static void bash_option(struct buf *out, const struct cli_verb *verb,
                        const struct options_row *row) {
    (void)verb;
    buf_printf(out, " --%s", row->name);
    if (row->letter)
        buf_printf(out, " -%c", row->letter);
}

static void bash_file(struct buf *out, const struct cli_verb *verb, const struct options_row *row) {
    if (takes_file(row))
        buf_printf(out, "    %s:--%s) words= files=1 ;;\n", verb->name, row->name);
    if (takes_file(row) && row->letter)
        buf_printf(out, "    %s:-%c) words= files=1 ;;\n", verb->name, row->letter);
}

static void bash_files(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    (void)local;
    each_option(out, verb, bash_file);
}

static void bash_words(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    buf_printf(out, "    %s) words='", verb->name);
    put_arguments(out, verb, local);
    each_option(out, verb, bash_option);
    buf_str(out, reads_files(verb) ? "' files=1 ;;\n" : "' ;;\n");
}

void completion_bash(struct buf *out, const struct cli_verb *local) {
    buf_str(out, "# bash completion for impound\n"
                 "_impound() {\n"
                 "    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words= files=\n"
                 "    case $verb in\n");
    each_verb(out, local, bash_words);
    buf_str(out, "    esac\n"
                 "    case $verb:${COMP_WORDS[COMP_CWORD-1]} in\n");
    each_verb(out, local, bash_files);
    buf_str(out, "    esac\n"
                 "    [ \"$COMP_CWORD\" -gt 1 ] || words='");
    each_verb(out, local, put_name);
    buf_str(out, "'\n"
                 "    mapfile -t COMPREPLY < <(\n"
                 "        compgen -W \"$words\" -- \"$word\"\n"
                 "        [ -z \"$files\" ] || compgen -f -- \"$word\")\n"
                 "}\n"
                 "complete -F _impound impound\n");
}

/* ---- zsh ---- */

/* Single quotes have no escapes; a quote is put outside of them. */
static void zsh_text(struct buf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '\'')
            buf_str(out, "'\\''");
        else
            put_escaped(out, (char[]){*text, '\0'}, "[]:\\");
    }
}

static void zsh_verb(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    (void)local;
    buf_printf(out, "        '%s:", verb->name);
    zsh_text(out, verb->summary);
    buf_str(out, "'\n");
}

static void zsh_spec(struct buf *out, const struct options_row *row) {
    buf_char(out, '[');
    zsh_text(out, row->help);
    buf_char(out, ']');
    if (row->value) {
        buf_char(out, ':');
        zsh_text(out, row->value);
        buf_str(out, takes_file(row) ? ":_files" : ":");
    }
    buf_char(out, '\'');
}

static void zsh_option(struct buf *out, const struct cli_verb *verb,
                       const struct options_row *row) {
    (void)verb;
    buf_printf(out, " \\\n            '*--%s%s", row->name, row->value ? "=" : "");
    zsh_spec(out, row);
    if (row->letter) {
        buf_printf(out, " \\\n            '*-%c", row->letter);
        zsh_spec(out, row);
    }
}

static void zsh_case(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    buf_printf(out, "        %s) _arguments", verb->name);
    each_option(out, verb, zsh_option);
    buf_str(out, " \\\n            '*:argument:");
    if (reads_files(verb)) {
        buf_str(out, "_files' ;;\n");
        return;
    }
    buf_char(out, '(');
    put_arguments(out, verb, local);
    buf_str(out, ")' ;;\n");
}

void completion_zsh(struct buf *out, const struct cli_verb *local) {
    buf_str(out, "#compdef impound\n"
                 "_impound() {\n"
                 "    local -a verbs\n"
                 "    verbs=(\n");
    each_verb(out, local, zsh_verb);
    buf_str(out, "    )\n"
                 "    if (( CURRENT == 2 )); then\n"
                 "        _describe verb verbs\n"
                 "        return\n"
                 "    fi\n"
                 "    shift words\n"
                 "    (( CURRENT-- ))\n"
                 "    case $words[1] in\n");
    each_verb(out, local, zsh_case);
    buf_str(out, "    esac\n"
                 "}\n"
                 "_impound \"$@\"\n");
}

/* ---- fish ---- */

static void fish_text(struct buf *out, const char *text) {
    buf_char(out, '\'');
    put_escaped(out, text, "'\\");
    buf_char(out, '\'');
}

static void fish_option(struct buf *out, const struct cli_verb *verb,
                        const struct options_row *row) {
    buf_printf(out, "complete -c impound -n '__fish_seen_subcommand_from %s' -l %s", verb->name,
               row->name);
    if (row->letter)
        buf_printf(out, " -s %c", row->letter);
    if (row->value)
        buf_str(out, takes_file(row) ? " -r -F" : " -x");
    buf_str(out, " -d ");
    fish_text(out, row->help);
    buf_char(out, '\n');
}

static void fish_verb(struct buf *out, const struct cli_verb *verb, const struct cli_verb *local) {
    buf_printf(out, "complete -c impound -n __fish_use_subcommand -a %s -d ", verb->name);
    fish_text(out, verb->summary);
    buf_printf(out, "\ncomplete -c impound -n '__fish_seen_subcommand_from %s' %s -a '", verb->name,
               reads_files(verb) ? "-F" : "-f");
    put_arguments(out, verb, local);
    buf_str(out, "'\n");
    each_option(out, verb, fish_option);
}

void completion_fish(struct buf *out, const struct cli_verb *local) {
    buf_str(out, "# fish completion for impound\n"
                 "complete -c impound -f\n");
    each_verb(out, local, fish_verb);
}
