/* asset: the files of the dashboard, put into the binary by the build (tools/embed.py).
 *
 * Names of all but the page itself carry a hash of what they hold: they never change, and are kept
 * by browsers for good; the page is asked for again each time, by its ETag. */
#ifndef SERVER_ASSET_H
#define SERVER_ASSET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct MHD_Response;

struct asset {
    const char *name; /* "index.html", "app-1a2b3c4d.js" */
    const char *type;
    const char *etag; /* in its quotes */
    bool hashed;      /* its name says what it holds */
    const unsigned char *plain, *gzip;
    size_t plain_size, gzip_size;
};

/* How a client wants it. */
struct asset_wish {
    bool takes_gzip;
    bool has_it; /* If-None-Match names it */
};

extern const struct asset asset_list[];
extern const size_t asset_count;
/* The Content-Security-Policy of the page. */
extern const char asset_policy[];

/* Or a plain page stands in for it. */
bool asset_has_dashboard(void);
/* NULL: there is none of that name. */
const struct asset *asset_find(struct bytes name);
/* What Accept-Encoding and If-None-Match say; either may be BYTES_NONE. */
struct asset_wish asset_wish(const struct asset *asset, struct bytes accept_encoding,
                             struct bytes if_none_match);
/* The HTTP status that goes with asset_response. */
unsigned asset_status(struct asset_wish wish);
/* The answer with the headers that are its own; NULL when there is no memory. */
struct MHD_Response *asset_response(const struct asset *asset, struct asset_wish wish);

#endif
