/* http_phrase: what an HTTP status is called (RFC 9110 and its neighbours). */
#ifndef HANDLER_HTTP_PHRASE_H
#define HANDLER_HTTP_PHRASE_H

/* NULL when the status has no name that is widely known. */
const char *http_phrase(int status);

#endif
