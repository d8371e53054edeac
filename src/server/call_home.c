/* GET / and GET /openapi.json: what there is to call. */
#include "server/call.h"

#include "server/openapi.h"
#include "server/request.h"

void call_openapi(struct request *request) {
    openapi_write(request->server->options.version, &request->out);
    request_answer(request, 200);
}

void call_home(struct request *request) {
    static const char page[] =
        "<!doctype html>\n<html lang=\"en\"><head><meta "
        "charset=\"utf-8\"><title>impound</title></head>\n"
        "<body>\n<h1>impound</h1>\n"
        "<p>A retry and dead-letter engine. Nothing in the lot blocks the road, nothing in it is "
        "lost.</p>\n<ul>\n"
        "<li><a href=\"/v1/queues\">/v1/queues</a>: how the queues are</li>\n"
        "<li><a href=\"/v1/dlqs\">/v1/dlqs</a>: how the DLQs are</li>\n"
        "<li><a href=\"/v1/letters\">/v1/letters</a>: what is dead, newest first</li>\n"
        "<li><a href=\"/v1/stats\">/v1/stats</a>: rates and counters</li>\n"
        "<li><a href=\"/metrics\">/metrics</a>: the same for Prometheus</li>\n"
        "<li><a href=\"/openapi.json\">/openapi.json</a>: every call of the API</li>\n</ul>\n"
        "<p>On the command line: <code>impound queues</code>, <code>impound dlqs</code>, "
        "<code>impound ls</code>, <code>impound show ID</code>, <code>impound explain ID</code>."
        "</p>\n</body></html>\n";
    buf_str(&request->out, page);
    request_answer_as(request, 200, "text/html; charset=utf-8");
}
