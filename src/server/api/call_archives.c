/* Letters out of the store and back: exports, imports, archives.
 *
 * POST /v1/exports: letters as NDJSON, plain or as zstd, in the answer or in a folder. An answer is
 * written to an unnamed temporary file first, so that memory does not grow with it and an error
 * half-way gives a problem document instead of a truncated answer. */
#include "server/api/call.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "server/api/json/selection_json.h"
#include "server/api/json/view_json.h"
#include "server/api/name_check.h"
#include "triage/archive/archive.h"
#include "triage/archive/export.h"
#include "triage/archive/frames.h"
#include "triage/archive/import.h"
#include "triage/archive/spill_path.h"

enum { TO_MAX = 4096 };

struct export_order {
    struct selection_json choice;
    struct selection selection;
    struct bytes to; /* empty: into the answer */
    bool compress;
};

static enum status set_to(void *into, struct json value, struct arena *arena, struct err *err) {
    return member_text(value, 1, TO_MAX, arena, &((struct export_order *)into)->to, err);
}

static enum status set_compress(void *into, struct json value, struct arena *arena,
                                struct err *err) {
    struct export_order *order = into;
    struct bytes text = BYTES_NONE;
    if (value.type == JSON_NULL)
        return STATUS_OK;
    order->compress = json_string(value, arena, &text) && bytes_is(text, "zstd");
    return order->compress || bytes_is(text, "none")
               ? STATUS_OK
               : err_set(err, STATUS_INVALID, "must be \"zstd\" or \"none\"");
}

static const struct member members[] = {SELECTION_JSON_MEMBERS,
                                        {"cursor", selection_json_cursor},
                                        {"to", set_to},
                                        {"compress", set_compress}};

static enum status read_order(struct request *request, struct json object,
                              struct export_order *order, struct err *err) {
    *order = (struct export_order){.compress = request->takes_zstd};
    selection_json_init(&order->choice, &order->selection, request);
    order->selection.reading = true;
    selection_json_may_leave(&order->choice, request);
    enum status status =
        member_read(members, sizeof members / sizeof *members, object, order, &request->arena, err);
    if (status != STATUS_OK)
        return status;
    /* An export changes nothing, so without a filter it selects every letter, as on the command
     * line. */
    if (!order->selection.filtered && order->selection.id_count == 0)
        order->selection.all = true;
    return selection_finish(&order->selection, err);
}

/* ---- into the answer ---- */

struct export_output {
    FILE *file;
    ZSTD_CCtx *writer; /* NULL: plain */
    struct buf line;
};

static enum status put_line(void *arg, struct bytes line, struct wall dead_at, struct err *err) {
    (void)dead_at;
    struct export_output *answer = arg;
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

static enum status fill(struct request *request, const struct export_order *order,
                        struct export_output *answer, struct export_result *result,
                        struct err *err) {
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

static void export_answer(struct request *request, const struct export_order *order) {
    struct export_output answer = {.file = NULL};
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
    view_json_number(&json, "letters", result->letters);
    json_key(&json, "folder");
    json_put(&json, folder);
    json_key(&json, "archive");
    manifest_put(manifest, &json);
    view_json_walked(&json, &result->walked);
    json_close(&json, '}');
    request_answer(request, 200);
}

static void export_folder(struct request *request, const struct export_order *order) {
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
    struct export_order order;
    struct err err;
    if (!request_json(request, true, &object))
        return;
    enum status status = read_order(request, object, &order, &err);
    if (status != STATUS_OK)
        request_problem(request, status, "%s", err.text);
    else if (!name_check_filter(request, &order.selection.query))
        return;
    else if (order.to.len > 0)
        export_folder(request, &order);
    else
        export_answer(request, &order);
}

/* ---- POST /v1/imports: letters from NDJSON, plain or zstd ---- */

static void put_list(struct json_out *json, const char *key, const struct buf *list) {
    json_key(json, key);
    json_open(json, '[');
    if (list->len > 0)
        json_put_raw(json, buf_view(list));
    json_close(json, ']');
}

static void put_imported(struct request *request, const struct import_result *result) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    view_json_number(&json, "lines", result->lines);
    view_json_number(&json, "imported", result->imported);
    view_json_number(&json, "present", result->present);
    view_json_number(&json, "changed_count", result->changed);
    view_json_number(&json, "refused_count", result->refused);
    put_list(&json, "changed", &result->changed_list);
    put_list(&json, "refused", &result->refused_list);
    json_close(&json, '}');
    request_answer(request, 200);
}

void call_imports(struct request *request) {
    struct import_result result;
    struct err err;
    enum status status = import_run(request->server->options.triage, buf_view(&request->body),
                                    request->actor, &result, &err);
    if (status == STATUS_OK)
        put_imported(request, &result);
    else
        request_problem(request, status, "after %llu letters: %s",
                        (unsigned long long)result.imported, err.text);
    import_result_free(&result);
}

/* ---- GET /v1/archives: the contents of the DLQs' archives, from their manifests ---- */

static enum status put_dlq(struct request *request, struct bytes name, struct json_out *json,
                           struct err *err) {
    const struct server_options *options = &request->server->options;
    char memory[SPILL_PATH_MAX];
    struct live_config_dlq dlq;
    struct buf folder;
    if (!options->config.dlq(options->config.arg, name, &dlq) || dlq.archive.len == 0)
        return STATUS_OK;
    buf_init_fixed(&folder, memory, sizeof memory);
    enum status status = spill_path_folder(options->base_dir, dlq.archive, name, &folder, err);
    return status == STATUS_OK ? archive_list(buf_view(&folder), json, err) : status;
}

void call_archives(struct request *request) {
    struct bytes only = request_arg(request, "dlq"), *names;
    struct err err;
    enum status status = STATUS_OK;
    if (!name_check_dlq(request, only))
        return;
    size_t count = view_json_dlq_names(&request->server->options, &request->arena, &names);
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "archives");
    json_open(&json, '[');
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        if (only.len == 0 || bytes_eq(only, names[i]))
            status = put_dlq(request, names[i], &json, &err);
    json_close(&json, ']');
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    if (status == STATUS_OK)
        request_answer(request, 200);
    else
        request_problem(request, status, "%s", err.text);
}
