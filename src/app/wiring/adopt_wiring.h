/* adopt_wiring: the adopter, with the brokers of the configuration's `adopt` entries and one thread
 * for each entry. */
#ifndef APP_ADOPT_WIRING_H
#define APP_ADOPT_WIRING_H

#include "app/wiring/config_current.h"

struct adopt_wiring_options {
    struct triage *triage;
    struct config_current *current;
    struct bytes consumer; /* the consumer name used at brokers */
    void (*publish)(void *arg, const struct engine_event *event);
    void *arg;
};

struct adopt_wiring;

/* NULL: nothing is to be adopted. Borrows the texts. */
struct adopt_wiring *adopt_wiring_start(const struct adopt_wiring_options *options);
struct adopt *adopt_wiring_adopt(struct adopt_wiring *wiring); /* NULL-safe */
void adopt_wiring_stop(struct adopt_wiring *wiring);           /* NULL-safe; closes the brokers */
void adopt_wiring_free(struct adopt_wiring *wiring);           /* NULL-safe */

#endif
