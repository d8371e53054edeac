/* jq_wire: what the pool and its helpers say to each other, over one socket, in this machine's own
 * byte order (both ends are the same program).
 *
 *   greeting struct jq_answer, all zero: the helper is ready
 *   request  struct jq_request, program bytes, input bytes
 *   answer   struct jq_answer, then the output as JSON, or the error as text
 *
 * One request at a time; a helper that is told nothing more (end of file) exits. One whose program
 * runs for too long is ended by a signal of its own making: a clock that starts when everything is
 * prepared counts what the program's run takes of the processor and nothing else. */
#ifndef JQ_JQ_WIRE_H
#define JQ_JQ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JQ_ERROR_MAX = 480, /* bytes of an error's text: it must fit struct err */
    JQ_PREPARE_MS =
        10000, /* for a helper's start; and for compiling a program and taking its input */
};

struct jq_request {
    uint32_t compile_only; /* 1: there is no input; say whether the program compiles */
    uint32_t program_len;
    uint32_t input_len;
    uint32_t output_max;
    uint32_t timeout_ms; /* of the processor, for the run alone */
};

struct jq_answer {
    uint32_t failed; /* 1: what follows is why */
    uint32_t truthy;
    uint32_t last; /* 1: the helper has grown too large, and exits now */
    uint32_t len;
};

/* The whole of it or false (end of file, error). For the helper's side, which may block. */
bool jq_wire_read(int fd, void *to, size_t len);
bool jq_wire_write(int fd, const void *from, size_t len);

#endif
