/* redis_tls: TLS on a non-blocking socket. The server's certificate is checked against its name and
 * the system's authorities, or those of one file. */
#ifndef BROKER_REDIS_TLS_H
#define BROKER_REDIS_TLS_H

#include <stddef.h>
#include <sys/types.h>

struct redis_tls;

/* `ca_file` NULL: the system's authorities. NULL: `words` says why not. */
struct redis_tls *redis_tls_new(int fd, const char *host, const char *ca_file, char *words,
                                size_t size);
/* 1: done; 0: again when *events (as for poll) have come; -1: it failed, `words` says why. */
int redis_tls_shake(struct redis_tls *tls, short *events, char *words, size_t size);
/* Bytes; 0: again when *events have come; -1: it is over. */
ssize_t redis_tls_read(struct redis_tls *tls, void *data, size_t len, short *events);
ssize_t redis_tls_write(struct redis_tls *tls, const void *data, size_t len, short *events);
void redis_tls_free(struct redis_tls *tls);

#endif
