/* jq_wire: what the pool and its helpers say to each other, over one socket, in this machine's own
 * byte order (both ends are the same program).
 *
 *   request  struct jq_request, program bytes, input bytes
 *   answer   struct jq_answer, then the output as JSON, or the error as text
 *
 * One request at a time; a helper that is told nothing more (end of file) exits. */
#ifndef JQ_JQ_WIRE_H
#define JQ_JQ_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { JQ_ERROR_MAX = 480 }; /* bytes of an error's text: it must fit struct err */

struct jq_request {
    uint32_t compile_only; /* 1: there is no input; say whether the program compiles */
    uint32_t program_len;
    uint32_t input_len;
    uint32_t output_max;
    uint32_t cpu_seconds; /* that this job may use */
};

struct jq_answer {
    uint32_t failed; /* 1: what follows is why */
    uint32_t truthy;
    uint32_t len;
};

/* The whole of it or false (end of file, error). For the helper's side, which may block. */
bool jq_wire_read(int fd, void *to, size_t len);
bool jq_wire_write(int fd, const void *from, size_t len);

#endif
