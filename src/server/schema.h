/* schema: the shapes that go in and out, as JSON Schema, for /openapi.json. */
#ifndef SERVER_SCHEMA_H
#define SERVER_SCHEMA_H

#include <stddef.h>

struct schema {
    const char *name;
    const char *json;
};

extern const struct schema schemas[];
extern const size_t schema_count;

/* What a query parameter means, by its name. */
struct schema_parameter {
    const char *name;
    const char *type; /* JSON Schema type */
    const char *description;
};

extern const struct schema_parameter schema_parameters[];
extern const size_t schema_parameter_count;

#endif
