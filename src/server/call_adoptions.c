/* GET /v1/adoptions: how the adoption of other systems' dead letters goes. */
#include "server/call.h"

#include "server/http/request.h"

void call_adoptions(struct request *request) {
    struct json_out json = json_out(&request->out);
    json_open(&json, '{');
    json_key(&json, "adoptions");
    adopt_put(request->server->options.adopt, BYTES_NONE, &json);
    json_key(&json, "cursor");
    json_put_null(&json);
    json_close(&json, '}');
    request_answer(request, 200);
}
