/* openssl_exit: how a program that speaks TLS ends. */
#ifndef BROKER_OPENSSL_EXIT_H
#define BROKER_OPENSSL_EXIT_H

/* The first thing that a program does with OpenSSL: what it has is left to the system when the
 * program ends. Of itself OpenSSL frees it in exit(), under the hands of threads that are still
 * there: libnats has one that lets go of a closed connection after it has told of it, and nobody
 * can wait for that one. */
void openssl_exit_as_it_is(void);

#endif
