/* exposition: lines of Prometheus' text format. */
#ifndef SERVER_EXPOSITION_H
#define SERVER_EXPOSITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* The HELP and TYPE lines before a metric's samples. */
void exposition_head(struct buf *out, const char *name, const char *type, const char *help);
/* A metric of one sample, with its head. */
void exposition_counter(struct buf *out, const char *name, const char *help, uint64_t value);
void exposition_gauge(struct buf *out, const char *name, const char *help, double value);
/* key="value", with the value escaped. */
void exposition_label(struct buf *out, const char *key, struct bytes value);
void exposition_sample(struct buf *out, const char *name, const char *key, struct bytes value,
                       double sample);
/* `labels` is empty or ends in a comma; there is one bucket more than bounds. */
void exposition_histogram(struct buf *out, const char *name, struct bytes labels,
                          const double *bounds, const uint64_t *buckets, size_t count, double sum);

#endif
