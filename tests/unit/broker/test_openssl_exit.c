/* What was registered before OpenSSL began is called after what OpenSSL would do in exit(). */
#include "broker/common/openssl_exit.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

/* A thread that is late would use it like this. */
static void use_it_late(void) {
    if (OPENSSL_init_crypto(0, NULL) != 1)
        _exit(EXIT_FAILURE);
}

static void tls_is_spoken(void **state) {
    (void)state;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    assert_non_null(context);
    SSL_CTX_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(tls_is_spoken)};
    atexit(use_it_late);
    openssl_exit_as_it_is();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
