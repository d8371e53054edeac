/* POST /v1/imports: letters from NDJSON or zstd of it. */
#include "server/call.h"

#include "server/http/request.h"
#include "server/view.h"
#include "triage/import.h"

static void put_list(struct json_out *json, const char *key, const struct buf *list) {
    json_key(json, key);
    json_open(json, '[');
    if (list->len > 0)
        json_put_raw(json, buf_view(list));
    json_close(json, ']');
}

static void put_result(struct request *request, const struct import_result *result) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    view_number(&json, "lines", result->lines);
    view_number(&json, "imported", result->imported);
    view_number(&json, "present", result->present);
    view_number(&json, "changed_count", result->changed);
    view_number(&json, "refused_count", result->refused);
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
        put_result(request, &result);
    else
        request_problem(request, status, "after %llu letters: %s",
                        (unsigned long long)result.imported, err.text);
    import_result_free(&result);
}
