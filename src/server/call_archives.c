/* GET /v1/archives: what the archives of the DLQs hold, from their manifests. */
#include "server/call.h"

#include "server/names.h"
#include "server/http/request.h"
#include "server/view.h"
#include "triage/archive.h"
#include "triage/spill_path.h"

static enum status put_dlq(struct request *request, struct bytes name, struct json_out *json,
                           struct err *err) {
    const struct server_options *options = &request->server->options;
    char memory[SPILL_PATH_MAX];
    struct engine_dlq dlq;
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
    if (!names_dlq(request, only))
        return;
    size_t count = view_dlq_names(&request->server->options, &request->arena, &names);
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
