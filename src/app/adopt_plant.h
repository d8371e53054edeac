/* adopt_plant: the adopter with the brokers that the configuration's `adopt` names, and its
 * threads. */
#ifndef APP_ADOPT_PLANT_H
#define APP_ADOPT_PLANT_H

#include "app/config_current.h"

struct adopt_plant_options {
    struct triage *triage;
    struct config_current *current;
    struct bytes consumer; /* our name at brokers */
    void (*publish)(void *arg, const struct engine_event *event);
    void *arg;
};

struct adopt_plant;

/* NULL: there is nothing to adopt. Borrows the texts. */
struct adopt_plant *adopt_plant_start(const struct adopt_plant_options *options);
struct adopt *adopt_plant_adopt(struct adopt_plant *plant); /* NULL-safe */
void adopt_plant_stop(struct adopt_plant *plant);           /* NULL-safe; brokers are left */
void adopt_plant_free(struct adopt_plant *plant);           /* NULL-safe */

#endif
