#include "app/instance.h"

#include <stdio.h>
#include <unistd.h>

void instance_name(char out[INSTANCE_MAX]) {
    char host[64] = "localhost";
    gethostname(host, sizeof host - 1);
    snprintf(out, INSTANCE_MAX, "%s-%ld", host, (long)getpid());
}
