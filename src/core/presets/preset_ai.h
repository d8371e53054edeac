/* preset_ai: the preset ai-api, which ends with the rows of http. */
#ifndef CORE_PRESETS_PRESET_AI_H
#define CORE_PRESETS_PRESET_AI_H

#include "core/rule.h"

const struct rule *preset_ai(size_t *count);

#endif
