/* adopt_wiring: the adopter, with the brokers that the configuration's `adopt` names and one thread
 * for each entry. */
#ifndef APP_ADOPT_WIRING_H
#define APP_ADOPT_WIRING_H

#include "app/config_current.h"

struct adopt_wiring_options {
    struct triage *triage;
    struct config_current *current;
    struct bytes consumer; /* our name at brokers */
    void (*publish)(void *arg, const struct engine_event *event);
    void *arg;
};

struct adopt_wiring;

/* NULL: there is nothing to adopt. Borrows the texts. */
struct adopt_wiring *adopt_wiring_start(const struct adopt_wiring_options *options);
struct adopt *adopt_wiring_adopt(struct adopt_wiring *wiring); /* NULL-safe */
void adopt_wiring_stop(struct adopt_wiring *wiring);           /* NULL-safe; brokers are left */
void adopt_wiring_free(struct adopt_wiring *wiring);           /* NULL-safe */

#endif
