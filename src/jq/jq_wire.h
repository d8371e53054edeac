/* jq_wire: the protocol between the pool and its helpers, over one socket, in native byte order
 * (both ends are the same program).
 *
 *   greeting struct jq_answer, all zero: the helper is ready
 *   request  struct jq_request, program bytes, input bytes
 *   answer   struct jq_answer, then the output as JSON, or the error as text
 *
 * One request at a time; at end of file the helper exits. A program that runs for too long is ended
 * by the helper's own CPU timer, which starts after compiling and parsing. */
#ifndef JQ_JQ_WIRE_H
#define JQ_JQ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JQ_ERROR_MAX = 480, /* bytes of an error text: it must fit into struct err */
    JQ_PREPARE_MS =
        10000, /* for a helper's start, and for compiling a program and reading its input */
};

struct jq_request {
    uint32_t compile_only; /* 1: there is no input; only compile */
    uint32_t program_len;
    uint32_t input_len;
    uint32_t output_max;
    uint32_t timeout_ms; /* CPU time of the run alone */
};

struct jq_answer {
    uint32_t failed; /* 1: the error follows */
    uint32_t truthy;
    uint32_t last; /* 1: the helper has grown too large and exits */
    uint32_t len;
};

/* All bytes, or false (end of file, error). For the helper's side, which may block. */
bool jq_wire_read(int fd, void *to, size_t len);
bool jq_wire_write(int fd, const void *from, size_t len);

#endif
