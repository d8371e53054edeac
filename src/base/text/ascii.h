/* ascii: character classes that are the same in every locale and for every byte (unlike <ctype.h>).
 */
#ifndef BASE_TEXT_ASCII_H
#define BASE_TEXT_ASCII_H

#include <stdbool.h>

static inline bool ascii_is_digit(char c) {
    return c >= '0' && c <= '9';
}

static inline bool ascii_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool ascii_is_alnum(char c) {
    return ascii_is_digit(c) || ascii_is_letter(c);
}

static inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static inline bool ascii_is_hex(char c) {
    return ascii_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

#endif
