/* POST /v1/exports: letters as NDJSON, plain or as zstd, in the answer or in a folder.
 *
 * An answer is written to a file without a name first, so that memory does not grow with it and
 * trouble half-way is a problem document instead of half an answer. */
#include "server/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "server/choice.h"
#include "server/names.h"
#include "server/view.h"
#include "triage/archive.h"
#include "triage/export.h"
#include "triage/frames.h"
#include "triage/spill_path.h"

enum { TO_MAX = 4096 };

struct order {
    struct choice choice;
    struct selection selection;
    struct bytes to; /* empty: the answer */
    bool compress;
};

static enum status set_to(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, TO_MAX, arena, &((struct order *)into)->to, err);
}

static enum status set_compress(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    struct order *order = into;
    struct bytes text = BYTES_NONE;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    order->compress = json_string(value, arena, &text) && bytes_is(text, "zstd");
    return order->compress || bytes_is(text, "none")
               ? STATUS_OK
               : err_set(err, STATUS_INVALID, "must be \"zstd\" or \"none\"");
}

static const struct member members[] = {
    CHOICE_MEMBERS, {"cursor", choice_cursor}, {"to", set_to}, {"compress", set_compress}};

static enum status read_order(struct request *request, struct json object, struct order *order,
                              struct err *err) {
    *order = (struct order){.compress = request->takes_zstd};
    choice_init(&order->choice, &order->selection, request);
    order->selection.reading = true;
    choice_may_leave(&order->choice, request);
    enum status status =
        member_read(members, sizeof members / sizeof *members, object, order, &request->arena, err);
    if (status != STATUS_OK)
        return status;
    /* Looking harms nobody: without a filter it is every letter, as on the command line. */
    if (!order->selection.filtered && order->selection.id_count == 0)
        order->selection.all = true;
    return selection_finish(&order->selection, err);
}

/* ---- into the answer ---- */

struct answer {
    FILE *file;
    ZSTD_CCtx *writer; /* NULL: plain */
    struct buf line;
};

static enum status put_line(void *arg, struct bytes line, struct wall dead_at, struct err *err) {
    (void)dead_at;
    struct answer *answer = arg;
    buf_clear(&answer->line);
    if (answer->writer) {
        frames_put(answer->writer, line, &answer->line);
    } else {
        buf_bytes(&answer->line, line);
        buf_char(&answer->line, '\n');
    }
    if (fwrite(answer->line.ptr, 1, answer->line.len, answer->file) == answer->line.len)
        return STATUS_OK;
    return err_set(err, STATUS_IO, "the answer cannot be written to a file: %s", strerror(errno));
}

static enum status fill(struct request *request, const struct order *order, struct answer *answer,
                        struct export_result *result, struct err *err) {
    answer->file = tmpfile();
    if (!answer->file)
        return err_set(err, STATUS_IO, "no file can be made for the answer: %s", strerror(errno));
    answer->writer = order->compress ? frames_writer_new() : NULL;
    buf_init_heap(&answer->line, SIZE_MAX);
    enum status status = export_run(request->server->options.triage, &order->selection, put_line,
                                    answer, &request->arena, result, err);
    if (status == STATUS_OK && fflush(answer->file) != 0)
        status =
            err_set(err, STATUS_IO, "the answer cannot be written to a file: %s", strerror(errno));
    ZSTD_freeCCtx(answer->writer);
    buf_free(&answer->line);
    return status;
}

static void export_answer(struct request *request, const struct order *order) {
    struct answer answer = {.file = NULL};
    struct export_result result;
    struct err err;
    enum status status = fill(request, order, &answer, &result, &err);
    int fd = status == STATUS_OK ? dup(fileno(answer.file)) : -1;
    if (answer.file)
        fclose(answer.file);
    request->skipped = status == STATUS_OK ? result.walked.skipped : 0;
    request->damaged = status == STATUS_OK ? result.walked.damaged : 0;
    if (status != STATUS_OK)
        request_problem(request, status, "%s", err.text);
    else if (fd < 0)
        request_problem(request, STATUS_IO, "no file can be opened: %s", strerror(errno));
    else
        request_answer_file(request, fd,
                            order->compress ? "application/zstd" : "application/x-ndjson");
}

/* ---- into a folder ---- */

static enum status put_archived(void *arg, struct bytes line, struct wall dead_at,
                                struct err *err) {
    return archive_add(arg, line, dead_at, err);
}

static void put_result(struct request *request, const struct manifest *manifest,
                       struct bytes folder, const struct export_result *result) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    view_number(&json, "letters", result->letters);
    json_key(&json, "folder");
    json_put(&json, folder);
    json_key(&json, "archive");
    manifest_put(manifest, &json);
    view_walked(&json, &result->walked);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void export_folder(struct request *request, const struct order *order) {
    const struct server_options *options = &request->server->options;
    struct archive *archive = NULL;
    struct manifest manifest;
    struct export_result result;
    struct err err;
    struct buf folder;
    buf_init_fixed(&folder, arena_alloc(&request->arena, SPILL_PATH_MAX), SPILL_PATH_MAX);
    enum status status = spill_path_root(options->base_dir, order->to, &folder, &err);
    if (status == STATUS_OK)
        status = archive_begin(options->triage, buf_view(&folder),
                               order->selection.query.filter.dlq, &archive, &err);
    if (status == STATUS_OK)
        status = export_run(options->triage, &order->selection, put_archived, archive,
                            &request->arena, &result, &err);
    if (status == STATUS_OK)
        status = archive_finish(archive, &request->arena, &manifest, &err);
    else
        archive_abandon(archive);
    if (status == STATUS_OK)
        put_result(request, &manifest, buf_view(&folder), &result);
    else
        request_problem(request, status, "%s", err.text);
}

void call_exports(struct request *request) {
    struct json object;
    struct order order;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    enum status status = read_order(request, object, &order, &err);
    if (status != STATUS_OK)
        request_problem(request, status, "%s", err.text);
    else if (!names_filter(request, &order.selection.query))
        return;
    else if (order.to.len > 0)
        export_folder(request, &order);
    else
        export_answer(request, &order);
}
