/* GET / and GET /assets/{name}: the dashboard. */
#include "server/api/call.h"

#include "server/http/request.h"

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
