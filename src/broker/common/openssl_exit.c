#include "broker/common/openssl_exit.h"

#include <openssl/crypto.h>

void openssl_exit_as_it_is(void) {
    OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL);
}
