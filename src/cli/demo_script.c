#include "cli/demo_script.h"

#include <stddef.h>

#include "cli/demo_worker.h"

#define ORDERS DEMO_WORKER_ORDERS
#define AI     DEMO_WORKER_AI
#define RUN    DEMO_SCRIPT_RUN

const struct demo_script_act demo_script_acts[] = {
    {DEMO_SCRIPT_PART, "1. Three orders", 0},
    {DEMO_SCRIPT_SAY,
     "A worker prices orders. The first has a PIN code that the worker does not know, which\n"
     "is a bug; the second meets a tax service that times out twice; the third is fine.",
     0},
    {DEMO_SCRIPT_COMMAND, "push " ORDERS " '{\"pin\": \"BAD\"}' --id o-1." RUN, 0},
    {DEMO_SCRIPT_COMMAND, "push " ORDERS " '{\"pin\": \"560001\", \"trip\": 2}' --id o-2." RUN, 0},
    {DEMO_SCRIPT_COMMAND, "push " ORDERS " '{\"pin\": \"110001\"}' --id o-3." RUN, 0},
    {DEMO_SCRIPT_REST, ORDERS, 0},
    {DEMO_SCRIPT_SAY,
     "The second was tried again until it succeeded, the third went straight through. No\n"
     "retry mends a bug, so the first is dead after one attempt, with all that is known of it.",
     0},
    {DEMO_SCRIPT_COMMAND, "ls " ORDERS ".dlq", 0},
    {DEMO_SCRIPT_COMMAND, "explain o-1." RUN, 0},
    {DEMO_SCRIPT_SAY,
     "It goes round again with its PIN code mended: first the plan, which changes nothing,\n"
     "then the replay.",
     0},
    {DEMO_SCRIPT_COMMAND, "replay o-1." RUN " --edit '.pin = \"560001\"'", 0},
    {DEMO_SCRIPT_COMMAND, "replay o-1." RUN " --edit '.pin = \"560001\"' --apply", 0},

    {DEMO_SCRIPT_PART, "2. An AI provider that fails", 0},
    {DEMO_SCRIPT_SAY,
     "Prompts go to an AI provider. It is overloaded when the first one comes (529), which\n"
     "is worth a retry; it refuses the second for its content, which is not.",
     0},
    {DEMO_SCRIPT_COMMAND,
     "push " AI " '{\"model\": \"m1\", \"prompt\": \"hello\", \"trip\": 2}' --id p-1." RUN, 0},
    {DEMO_SCRIPT_COMMAND,
     "push " AI " '{\"model\": \"m1\", \"prompt\": \"a forbidden thing\"}' --id p-2." RUN, 0},
    {DEMO_SCRIPT_REST, AI, 0},
    {DEMO_SCRIPT_SAY,
     "One letter: the category says what kind of trouble it is, so that people and rules\n"
     "know what to do with it.",
     0},
    {DEMO_SCRIPT_COMMAND, "show p-2." RUN, 0},

    {DEMO_SCRIPT_PART, "3. An outage", 0},
    {DEMO_SCRIPT_PROVIDER, NULL, DEMO_WORKER_DOWN},
    {DEMO_SCRIPT_SAY, "Now the provider is down, for everybody, and a hundred prompts arrive.", 0},
    {DEMO_SCRIPT_PROMPTS, "q", 100},
    {DEMO_SCRIPT_HELD, AI, 0},
    {DEMO_SCRIPT_SAY,
     "After a few failures in a row the breaker opened. The queue holds its messages, burns\n"
     "no attempts on them, and from then on nothing is dead-lettered. Other queues go on.",
     0},
    {DEMO_SCRIPT_COMMAND, "queues " AI, 0},
    {DEMO_SCRIPT_PROVIDER, NULL, DEMO_WORKER_UP},
    {DEMO_SCRIPT_SAY,
     "The provider is back. One probe, then two, four, eight: the queue flows again by itself.", 0},
    {DEMO_SCRIPT_REST, AI, 0},
    {DEMO_SCRIPT_SAY, "All hundred succeeded. The only letter is the refused prompt of before.", 0},
    {DEMO_SCRIPT_COMMAND, "dlqs " AI ".dlq", 0},

    {DEMO_SCRIPT_PART, "4. A model is gone", 0},
    {DEMO_SCRIPT_PROVIDER, NULL, DEMO_WORKER_ROTATED},
    {DEMO_SCRIPT_SAY,
     "The provider takes model m1 away; there is m2 now. Twenty prompts still say m1. Asking\n"
     "again would not help: they are dead at once, and one failure is one group.",
     0},
    {DEMO_SCRIPT_PROMPTS, "r", 20},
    {DEMO_SCRIPT_REST, AI, 0},
    {DEMO_SCRIPT_COMMAND, "groups --dlq " AI ".dlq", 0},
    {DEMO_SCRIPT_SAY, "The plan of a replay with another model in each body. Nothing is sent yet.",
     0},
    {DEMO_SCRIPT_COMMAND, "replay --dlq " AI ".dlq --reason model_gone --edit '.model = \"m2\"'",
     0},
    {DEMO_SCRIPT_SAY,
     "And the replay: one letter as a canary, then ten, then the rest. It would stop by\n"
     "itself if they came back.",
     0},
    {DEMO_SCRIPT_COMMAND,
     "replay --dlq " AI ".dlq --reason model_gone --edit '.model = \"m2\"' --apply", 0},
    {DEMO_SCRIPT_SAY,
     "They are resolved, on the record, with the body as it was and as it was sent.", 0},
    {DEMO_SCRIPT_COMMAND, "ls " AI ".dlq --state resolved --limit 3", 0},
    {0},
};
