/* http_phrase: the reason phrase of an HTTP status (RFC 9110 and others). */
#ifndef HANDLER_HTTP_HTTP_PHRASE_H
#define HANDLER_HTTP_HTTP_PHRASE_H

/* NULL: no well-known phrase. */
const char *http_phrase(int status);

#endif
