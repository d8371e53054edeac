/* schema: the shapes that go in and out, as JSON Schema, for /openapi.json. */
#ifndef SERVER_SCHEMA_H
#define SERVER_SCHEMA_H

#include <stddef.h>

struct schema {
    const char *name;
    const char *json;
};

extern const struct schema schemas[]; /* of answers */
extern const size_t schema_count;

extern const struct schema schema_requests[]; /* of request bodies: as strict as the server */
extern const size_t schema_request_count;

/* What a parameter in a path or a query is, by its name and the operation that takes it. */
struct schema_parameter {
    const char *name;
    const char *operation; /* an operationId; NULL: every other */
    const char *json;
    const char *description;
};

extern const struct schema_parameter schema_parameters[];
extern const size_t schema_parameter_count;

#endif
