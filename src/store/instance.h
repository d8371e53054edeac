/* instance: the name of this process, and its consumer name at brokers. */
#ifndef STORE_INSTANCE_H
#define STORE_INSTANCE_H

#include "base/status.h"

enum { INSTANCE_MAX = 128 };

/* The name of this process in envelopes: host-pid. */
void instance_name(char out[INSTANCE_MAX]);
/* The consumer name used at brokers: "impound-" and a UUID. It is stored with the data and created
 * on first use, so it survives restarts and moves to another host. */
enum status instance_consumer(const char *store_path, char out[INSTANCE_MAX], struct err *err);

#endif
