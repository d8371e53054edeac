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
/* Names of the kinds that are built in, or that this build has no library for; ends with NULL. */
void registry_names(bool built_in, const char *out[REGISTRY_KINDS_MAX + 1]);

#endif
