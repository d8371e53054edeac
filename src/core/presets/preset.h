/* preset: the tables of SEMANTICS §3, as data. */
#ifndef CORE_PRESETS_PRESET_H
#define CORE_PRESETS_PRESET_H

#include "core/rule.h"

enum preset { PRESET_HTTP, PRESET_EXEC, PRESET_ERRORS, PRESET_AI_API, PRESET_COUNT };

const char *preset_text(enum preset preset); /* "http" "exec" "errors" "ai-api" */
/* Rules in the order in which they are tried; static memory. */
const struct rule *preset_rules(enum preset preset, size_t *count);
/* The same of PRESET_ERRORS: exception families by name (preset_errors.c). */
const struct rule *preset_errors(size_t *count);
/* Failures on our side of any handler (an edit, an answer to be kept). They are tried before every
 * preset, because their texts are not the handler's. */
const struct rule *preset_ours(size_t *count);

#endif
