/* oracle: another reader's opinion of a JSON text. In a file of its own, because jansson and base
 * use the same names. */
#ifndef ORACLE_H
#define ORACLE_H

#include <stddef.h>

enum oracle {
    ORACLE_TAKES,
    ORACLE_REFUSES,
    ORACLE_LIMIT, /* legal, but beyond what jansson can hold */
};

enum oracle oracle_json(const char *text, size_t len);

#endif
