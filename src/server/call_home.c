/* GET /, GET /assets/{name} and GET /openapi.json: what there is to see, and what there is to call.
 */
#include "server/call.h"

#include "server/openapi.h"
#include "server/http/request.h"

void call_openapi(struct request *request) {
    buf_put(&request->out, (const char *)openapi_json, openapi_json_size);
    request_answer(request, 200);
}

void call_home(struct request *request) {
    request_answer_asset(request, asset_find(BYTES("index.html")));
}

void call_asset(struct request *request) {
    const struct asset *asset = asset_find(request->params[0]);
    if (asset)
        request_answer_asset(request, asset);
    else
        request_problem(request, STATUS_NOT_FOUND,
                        "the dashboard has no such file; load the page again");
}
