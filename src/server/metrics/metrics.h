/* metrics: GET /metrics, Prometheus text (DESIGN §8). */
#ifndef SERVER_METRICS_H
#define SERVER_METRICS_H

#include "server/server.h"

enum { METRICS_REASONS_MAX = 50 }; /* further reasons are counted as "other" */

/* The reasons that have a series of their own: the first METRICS_REASONS_MAX to appear, for as long
 * as the server runs, so that no counter ever decreases. */
struct metrics_reasons;

struct metrics_reasons *metrics_reasons_new(void);
void metrics_reasons_free(struct metrics_reasons *reasons);

void metrics_write(const struct server_options *options, struct metrics_reasons *reasons,
                   struct wall now, struct arena *arena, struct buf *out);

#endif
