/* asset: the files of the dashboard, embedded into the binary by the build (tools/embed.py).
 *
 * All names but the page's contain a hash of the file's content: such a file never changes, and
 * browsers may cache it for good. The page is revalidated each time, by its ETag. */
#ifndef SERVER_ASSET_H
#define SERVER_ASSET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct MHD_Response;

struct asset {
    const char *name; /* "index.html", "app-1a2b3c4d.js" */
    const char *type;
    const char *etag; /* with its quotes */
    bool hashed;      /* its name contains a hash of its content */
    const unsigned char *plain, *gzip;
    size_t plain_size, gzip_size;
};

/* The variant of a file that a client accepts. */
struct asset_wish {
    bool takes_gzip;
    bool has_it; /* If-None-Match has its ETag */
};

extern const struct asset asset_list[];
extern const size_t asset_count;
/* The Content-Security-Policy of the page. */
extern const char asset_policy[];

/* False if the binary has a placeholder page instead of the dashboard. */
bool asset_has_dashboard(void);
/* NULL: no file has that name. */
const struct asset *asset_find(struct bytes name);
/* Reads Accept-Encoding and If-None-Match; either may be BYTES_NONE. */
struct asset_wish asset_wish(const struct asset *asset, struct bytes accept_encoding,
                             struct bytes if_none_match);
/* The HTTP status that goes with asset_response. */
unsigned asset_status(struct asset_wish wish);
/* The answer with the asset's own headers; NULL when there is no memory. */
struct MHD_Response *asset_response(const struct asset *asset, struct asset_wish wish);

#endif
