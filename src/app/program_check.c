/* A jq program is compiled by a helper process, as it is when it runs, so that an error in it is
 * found before a message is handled. */
#include "app/program_check.h"

#include "jq/jq_check.h"
#include "jq/jq_pool.h"

/* The compiler's error quotes the program with its line ends. */
static void put_on_one_line(const char *text, struct buf *out) {
    for (; *text; text++)
        buf_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
}

static bool check_program(struct jq *jq, const struct config *config,
                          const struct config_program *program, struct buf *mistakes) {
    struct err err;
    if (jq_check(jq, program->text, &err) == STATUS_OK)
        return true;
    buf_printf(mistakes, "%.*s:%zu:%zu: jq: ", BYTES_ARG(config->path), program->line,
               program->column);
    put_on_one_line(err.text, mistakes);
    buf_char(mistakes, '\n');
    return false;
}

enum status program_check(const struct config *config, struct buf *mistakes) {
    if (!config->programs)
        return STATUS_OK;
    struct jq *jq = jq_pool_new(&(struct jq_pool_options){
        .program = "/proc/self/exe", .helpers = 1, .timeout_ms = config->jq_timeout_ms});
    bool good = true;
    for (const struct config_program *at = config->programs; at; at = at->next)
        good &= check_program(jq, config, at, mistakes);
    jq->vtable->free(jq);
    return good ? STATUS_OK : STATUS_INVALID;
}
