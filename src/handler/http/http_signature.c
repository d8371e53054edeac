/* http_signature: see the header. */
#include "handler/http/http_signature.h"

#include <sodium.h>
#include <stdio.h>

void http_signature_line(struct bytes secret, struct bytes body, char line[HTTP_SIGNATURE_SIZE]) {
    unsigned char mac[crypto_auth_hmacsha256_BYTES];
    char hex[2 * sizeof mac + 1];
    crypto_auth_hmacsha256_state state;
    crypto_auth_hmacsha256_init(&state, (const unsigned char *)secret.ptr, secret.len);
    crypto_auth_hmacsha256_update(&state, (const unsigned char *)body.ptr, body.len);
    crypto_auth_hmacsha256_final(&state, mac);
    sodium_memzero(&state, sizeof state);
    sodium_bin2hex(hex, sizeof hex, mac, sizeof mac);
    snprintf(line, HTTP_SIGNATURE_SIZE, "Impound-Signature: sha256=%s", hex);
}
