/* instance: who this is. */
#ifndef STORE_INSTANCE_H
#define STORE_INSTANCE_H

#include "base/status.h"

enum { INSTANCE_MAX = 128 };

/* What this process is called in envelopes: host-pid. */
void instance_name(char out[INSTANCE_MAX]);
/* What whoever has this store is called at brokers, in every life and on any machine: "impound-"
 * and a UUID, which stands beside the store and is made if need be. */
enum status instance_consumer(const char *store_path, char out[INSTANCE_MAX], struct err *err);

#endif
