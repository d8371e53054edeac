/* openapi: the description of the API, GET /openapi.json. Its source is api/openapi.yaml. */
#ifndef SERVER_OPENAPI_H
#define SERVER_OPENAPI_H

#include <stddef.h>

extern const unsigned char openapi_json[];
extern const size_t openapi_json_size;

#endif
