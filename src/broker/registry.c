#include "broker/registry.h"

#include <assert.h>

/* One row for each adapter: the name of its folder, which exports NAME_kind. src/broker/meson.build
 * reads these lines to find the folders. */
#define ADAPTERS                                                                                   \
    X(redis)                                                                                       \
    X(rabbitmq)                                                                                    \
    X(nats)                                                                                        \
    X(kafka)

#define X(name) extern const struct broker_kind name##_kind;
ADAPTERS
#undef X

#define X(name) &name##_kind,
const struct broker_kind *const registry_kinds[] = {ADAPTERS NULL};
#undef X

const char *const registry_planned_schemes[] = {"sqs", "pubsub", NULL};

static_assert(sizeof registry_kinds / sizeof *registry_kinds <= REGISTRY_KINDS_MAX + 1,
              "more kinds than struct registry_names has room for");

struct bytes registry_scheme(struct bytes url) {
    size_t end = bytes_find(url, BYTES("://"));
    return end < url.len ? bytes_cut(url, 0, end) : BYTES_NONE;
}

const struct broker_kind *registry_of_url(struct bytes url) {
    struct bytes scheme = registry_scheme(url);
    for (const struct broker_kind *const *kind = registry_kinds; *kind; kind++)
        for (size_t i = 0; i < 2; i++)
            if ((*kind)->schemes[i] && bytes_is(scheme, (*kind)->schemes[i]))
                return *kind;
    return NULL;
}

void registry_list(struct registry_names *out) {
    size_t sources = 0, sinks = 0, left_out = 0;
    for (const struct broker_kind *const *kind = registry_kinds; *kind; kind++) {
        if ((*kind)->source_new)
            out->sources[sources++] = (*kind)->name;
        else
            out->left_out[left_out++] = (*kind)->name;
        if ((*kind)->sink_new)
            out->sinks[sinks++] = (*kind)->name;
    }
    out->sources[sources] = out->sinks[sinks] = out->left_out[left_out] = NULL;
}
