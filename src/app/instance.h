/* instance: what this process is called in envelopes: host-pid. */
#ifndef APP_INSTANCE_H
#define APP_INSTANCE_H

enum { INSTANCE_MAX = 128 };

void instance_name(char out[INSTANCE_MAX]);

#endif
