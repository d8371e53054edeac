#include "broker/redis/redis_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

struct redis_tls {
    SSL_CTX *context;
    SSL *ssl;
};

static void say(const char *what, char *words, size_t size) {
    unsigned long code = ERR_get_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    snprintf(words, size, "TLS: %s%s%s", what, reason ? ": " : "", reason ? reason : "");
    ERR_clear_error();
}

static bool is_address(const char *host) {
    unsigned char room[16];
    return inet_pton(AF_INET, host, room) == 1 || inet_pton(AF_INET6, host, room) == 1;
}

/* A certificate has host names and addresses in different fields. */
static bool expect(SSL *ssl, const char *host) {
    if (is_address(host))
        return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1;
    return SSL_set1_host(ssl, host) == 1 && SSL_set_tlsext_host_name(ssl, host) == 1;
}

static bool trust(SSL_CTX *context, const char *ca_file) {
    return ca_file ? SSL_CTX_load_verify_locations(context, ca_file, NULL) == 1
                   : SSL_CTX_set_default_verify_paths(context) == 1;
}

struct redis_tls *redis_tls_new(int fd, const char *host, const char *ca_file, char *words,
                                size_t size) {
    struct redis_tls *tls = memory_new(sizeof *tls);
    tls->context = SSL_CTX_new(TLS_client_method());
    if (!tls->context)
        abort();
    SSL_CTX_set_min_proto_version(tls->context, TLS1_2_VERSION);
    SSL_CTX_set_verify(tls->context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(tls->context,
                     SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    tls->ssl = SSL_new(tls->context);
    if (!tls->ssl)
        abort();
    if (!trust(tls->context, ca_file))
        say("the CA file cannot be read", words, size);
    else if (!expect(tls->ssl, host) || SSL_set_fd(tls->ssl, fd) != 1)
        say("it cannot be initialised", words, size);
    else
        return tls;
    redis_tls_free(tls);
    return NULL;
}

/* What an operation that would block waits for; false: it failed. */
static bool waits(const struct redis_tls *tls, int result, short *events) {
    switch (SSL_get_error(tls->ssl, result)) {
    case SSL_ERROR_WANT_READ:
        *events = POLLIN;
        return true;
    case SSL_ERROR_WANT_WRITE:
        *events = POLLOUT;
        return true;
    default:
        return false;
    }
}

int redis_tls_shake(struct redis_tls *tls, short *events, char *words, size_t size) {
    ERR_clear_error();
    int result = SSL_connect(tls->ssl);
    if (result == 1)
        return 1;
    if (waits(tls, result, events))
        return 0;
    long verified = SSL_get_verify_result(tls->ssl);
    say(verified == X509_V_OK ? "the server does not speak it"
                              : X509_verify_cert_error_string(verified),
        words, size);
    return -1;
}

ssize_t redis_tls_read(struct redis_tls *tls, void *data, size_t len, short *events) {
    ERR_clear_error();
    int moved = SSL_read(tls->ssl, data, (int)len);
    return moved > 0 ? moved : waits(tls, moved, events) ? 0 : -1;
}

ssize_t redis_tls_write(struct redis_tls *tls, const void *data, size_t len, short *events) {
    ERR_clear_error();
    int moved = SSL_write(tls->ssl, data, len > INT32_MAX ? INT32_MAX : (int)len);
    return moved > 0 ? moved : waits(tls, moved, events) ? 0 : -1;
}

void redis_tls_free(struct redis_tls *tls) {
    if (!tls)
        return;
    SSL_free(tls->ssl);
    SSL_CTX_free(tls->context);
    free(tls);
}
