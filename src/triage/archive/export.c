/* export: see the header. */
#include "triage/archive/export.h"

#include "base/log.h"
#include "triage/query/letter_line.h"

struct exporting {
    struct triage *triage;
    export_line *put;
    void *arg;
    struct buf line;
    uint64_t letters, damaged;
    enum status status;
    struct err *err;
};

static enum status put_letter(struct exporting *exporting, uint64_t seq) {
    struct store *store = exporting->triage->store;
    struct message *held = NULL;
    enum status status = letters_get_seq(store->letters, seq, &held, exporting->err);
    if (status == STATUS_NOT_FOUND)
        return STATUS_OK;
    buf_clear(&exporting->line);
    if (status == STATUS_OK)
        status = letter_line_put(exporting->triage, held, &exporting->line, exporting->err);
    if (status == STATUS_OK && exporting->line.overflow)
        status = err_set(exporting->err, STATUS_TOO_LARGE, "letter %.*s is too large to export",
                         BYTES_ARG(held->envelope.letter_id));
    if (status == STATUS_OK)
        status = exporting->put(exporting->arg, buf_view(&exporting->line), held->envelope.dead_at,
                                exporting->err);
    message_free(held);
    exporting->letters += status == STATUS_OK;
    return status;
}

static bool visit(void *arg, const struct selection_letter *letter) {
    struct exporting *exporting = arg;
    exporting->status = put_letter(exporting, letter->seq);
    if (exporting->status == STATUS_CORRUPT) {
        log_warn("letter %.*s is damaged, skipping it in the export: %s",
                 BYTES_ARG(letter->envelope->letter_id), exporting->err->text);
        exporting->damaged++;
        exporting->status = STATUS_OK;
    }
    return exporting->status == STATUS_OK;
}

enum status export_run(struct triage *triage, const struct selection *selection, export_line *put,
                       void *arg, struct arena *arena, struct export_result *result,
                       struct err *err) {
    struct exporting exporting = {.triage = triage, .put = put, .arg = arg, .err = err};
    buf_init_heap(&exporting.line, LETTER_LINE_MAX);
    enum status status =
        selection_walk(triage, selection, visit, &exporting, arena, &result->walked, err);
    if (status == STATUS_OK)
        status = exporting.status;
    result->letters = exporting.letters;
    result->walked.damaged += exporting.damaged;
    buf_free(&exporting.line);
    return status;
}
