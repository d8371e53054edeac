#include "server/dashboard/asset.h"

#include <microhttpd.h>

/* Takes the next element off a comma-separated list (RFC 9110, 5.6.1). */
static struct bytes next_element(struct bytes *list) {
    size_t end = bytes_find(*list, BYTES(","));
    struct bytes element = bytes_trim(bytes_cut(*list, 0, end));
    *list = bytes_cut(*list, end < list->len ? end + 1 : end, list->len);
    return element;
}

bool asset_has_dashboard(void) {
    return asset_count > 1;
}

const struct asset *asset_find(struct bytes name) {
    for (size_t i = 0; i < asset_count; i++) {
        if (bytes_is(name, asset_list[i].name))
            return &asset_list[i];
    }
    return NULL;
}

/* "q=0", "q=0.0": not acceptable. */
static bool is_refused(struct bytes parameters) {
    struct bytes weight = bytes_trim(parameters);
    if (!bytes_starts(weight, BYTES("q=")) && !bytes_starts(weight, BYTES("Q=")))
        return false;
    for (size_t i = 2; i < weight.len; i++) {
        if (weight.ptr[i] != '0' && weight.ptr[i] != '.')
            return false;
    }
    return true;
}

/* An element that names gzip takes precedence over "*". */
static bool takes_gzip(struct bytes accept) {
    bool any = false;
    while (accept.len > 0) {
        struct bytes element = next_element(&accept);
        size_t end = bytes_find(element, BYTES(";"));
        struct bytes coding = bytes_trim(bytes_cut(element, 0, end));
        bool wanted = end == element.len || !is_refused(bytes_cut(element, end + 1, element.len));
        if (bytes_eq_nocase(coding, BYTES("gzip")))
            return wanted;
        any |= wanted && bytes_is(coding, "*");
    }
    return any;
}

static bool names_it(struct bytes tags, const char *etag) {
    while (tags.len > 0) {
        struct bytes tag = next_element(&tags);
        if (bytes_starts(tag, BYTES("W/")))
            tag = bytes_cut(tag, 2, tag.len);
        if (bytes_is(tag, etag) || bytes_is(tag, "*"))
            return true;
    }
    return false;
}

struct asset_wish asset_wish(const struct asset *asset, struct bytes accept_encoding,
                             struct bytes if_none_match) {
    return (struct asset_wish){.takes_gzip = takes_gzip(accept_encoding),
                               .has_it = names_it(if_none_match, asset->etag)};
}

unsigned asset_status(struct asset_wish wish) {
    return wish.has_it ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK;
}

struct MHD_Response *asset_response(const struct asset *asset, struct asset_wish wish) {
    const unsigned char *data = wish.takes_gzip ? asset->gzip : asset->plain;
    size_t size = wish.takes_gzip ? asset->gzip_size : asset->plain_size;
    struct MHD_Response *response = MHD_create_response_from_buffer(
        wish.has_it ? 0 : size, (void *)(uintptr_t)data, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return NULL;
    MHD_add_response_header(response, MHD_HTTP_HEADER_ETAG, asset->etag);
    MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
                            asset->hashed ? "public, max-age=31536000, immutable" : "no-cache");
    MHD_add_response_header(response, "Content-Security-Policy", asset_policy);
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    if (wish.takes_gzip && !wish.has_it)
        MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    return response;
}
