/* openapi: GET /openapi.json, OpenAPI 3.1, written from the routes table. */
#ifndef SERVER_OPENAPI_H
#define SERVER_OPENAPI_H

#include "base/buf.h"

void openapi_write(struct bytes version, struct buf *out);

#endif
