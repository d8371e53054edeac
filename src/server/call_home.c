/* GET / and GET /openapi.json: what there is to see, and what there is to call. */
#include "server/call.h"

#include "server/openapi.h"
#include "server/request.h"

/* home.html, put into the binary by the build. */
extern const char home_page[];
extern const size_t home_page_size;

void call_openapi(struct request *request) {
    openapi_write(request->server->options.version, &request->out);
    request_answer(request, 200);
}

void call_home(struct request *request) {
    buf_put(&request->out, home_page, home_page_size);
    request_answer_as(request, 200, "text/html; charset=utf-8");
}
