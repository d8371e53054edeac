/* registry: the kinds of brokers that this program knows. */
#ifndef BROKER_REGISTRY_H
#define BROKER_REGISTRY_H

#include "port/broker_kind.h"

enum { REGISTRY_KINDS_MAX = 16 };

extern const struct broker_kind *const registry_kinds[]; /* ends with NULL */

/* Schemes without an adapter, whose URLs are refused with a text that says so; ends with NULL. */
extern const char *const registry_planned_schemes[];

/* The kind whose scheme a URL has; NULL: none. */
const struct broker_kind *registry_of_url(struct bytes url);
/* The text before "://"; BYTES_NONE: it is not a URL. */
struct bytes registry_scheme(struct bytes url);
/* Names of kinds; each list ends with NULL. */
struct registry_names {
    const char *sources[REGISTRY_KINDS_MAX + 1], *sinks[REGISTRY_KINDS_MAX + 1];
    const char *left_out[REGISTRY_KINDS_MAX + 1]; /* this build has no library for them */
};
void registry_list(struct registry_names *out);

#endif
