#include "triage/adopt.h"

const char *const adopt_mode_words[] = {[ADOPT_PEEK] = "peek", [ADOPT_TAKE] = "take", NULL};
