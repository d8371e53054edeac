/* lease_rig: workers for the rig: they fetch and answer, and the test says when. */
#ifndef LEASE_RIG_H
#define LEASE_RIG_H

#include "rig.h"

enum { LEASE_MS = 10000, LEASES_MAX = 16 };

/* One request for messages, and copies of what it got. */
struct fetched {
    struct rig_request *asked;
    struct engine_lease lease;
    struct engine_leased room[LEASES_MAX];
    char leases[LEASES_MAX][ENGINE_LEASE_TEXT_SIZE];
    char ids[LEASES_MAX][RIG_ID_SIZE];
    uint32_t attempts[LEASES_MAX];
    struct traceparent traces[LEASES_MAX]; /* in their headers; zeroes: none */
    size_t count;
    bool gone; /* the worker went away */
};

struct rig *lease_rig_new(struct rig_options options);
/* Asked, not yet read. */
void lease_rig_ask(struct rig *rig, struct fetched *out, uint32_t max, int64_t wait_ms);
/* At once; then rests. */
void lease_rig_fetch(struct rig *rig, struct fetched *out, uint32_t max);

/* One answer for one lease. */
struct answered {
    struct rig_request *asked;
    struct engine_release release;
};
/* Asked, not yet read. */
void lease_rig_release(struct rig *rig, struct answered *out, enum engine_release_kind kind,
                       const char *lease);
/* … and its status, after a rest. */
enum status lease_rig_ack(struct rig *rig, const char *lease);
enum status lease_rig_fail(struct rig *rig, const char *lease, const char *error_type);
enum status lease_rig_extend(struct rig *rig, const char *lease, int64_t lease_ms);

#endif
