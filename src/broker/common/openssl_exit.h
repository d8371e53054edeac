/* openssl_exit: keeps OpenSSL from freeing its state in exit(). */
#ifndef BROKER_OPENSSL_EXIT_H
#define BROKER_OPENSSL_EXIT_H

/* Must be called before any other use of OpenSSL. By default OpenSSL frees its state in exit(),
 * while other threads may still use it: libnats has a thread that releases a closed connection
 * after it has reported the close, and nothing can wait for that thread. */
void openssl_exit_as_it_is(void);

#endif
