/* Any text as a broker's URL: refused with words, or taken apart into texts that C can use. */
#include "fuzz.h"

#include <string.h>

#include "broker/common/url.h"

static void check_text(struct bytes text) {
    FUZZ_CHECK(!text.ptr || strlen(text.ptr) == text.len);
}

static void check_parts(const struct url *url) {
    FUZZ_CHECK(url->scheme.len > 0 && url->host_count > 0 && url->host_count <= URL_HOSTS_MAX);
    check_text(url->scheme);
    check_text(url->user);
    check_text(url->password);
    check_text(url->path);
    for (size_t i = 0; i < url->host_count; i++) {
        FUZZ_CHECK(url->hosts[i].name.len > 0);
        check_text(url->hosts[i].name);
    }
    FUZZ_CHECK(url->parameter_count <= URL_PARAMETERS_MAX);
    for (size_t i = 0; i < url->parameter_count; i++) {
        check_text(url->parameters[i].name);
        check_text(url->parameters[i].value);
    }
}

/* What is printed of a URL that is right is one, and tells nobody who may enter. */
static void check_masked(struct bytes text, const struct url *url, struct arena *arena) {
    struct buf shown;
    struct url again;
    if (bytes_find(text, BYTES("${")) < text.len || text.len + 16 > URL_TEXT_MAX)
        return;
    buf_init_heap(&shown, URL_TEXT_MAX);
    url_mask(text, &shown);
    FUZZ_CHECK(url_parse(buf_view(&shown), arena, &again, NULL) == STATUS_OK);
    FUZZ_CHECK(!again.user.ptr == !url->user.ptr && !again.password.ptr);
    FUZZ_CHECK(!again.user.ptr || bytes_is(again.user, "***"));
    buf_free(&shown);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena arena;
    struct url url;
    struct buf shown;
    struct err err = {STATUS_OK, ""};
    struct bytes text = fuzz_text(data, size);
    arena_init_heap(&arena, 256);
    buf_init_heap(&shown, size + 16);
    if (url_parse(text, &arena, &url, &err) == STATUS_OK) {
        check_parts(&url);
        check_masked(text, &url, &arena);
    } else {
        FUZZ_CHECK(err.text[0] != '\0');
    }
    url_show(text, &shown);
    FUZZ_CHECK(!shown.overflow);
    buf_free(&shown);
    arena_free(&arena);
    return 0;
}
