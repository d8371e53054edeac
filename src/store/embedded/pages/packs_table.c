#include "store/embedded/pages/packs_table.h"

#include <string.h>

#include "base/memory.h"

/* The index of the first pack whose number is not less. */
static size_t place_of(const struct packs *packs, uint64_t number) {
    size_t low = 0, high = packs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (packs->all[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct pack *packs_table_find(const struct packs *packs, uint64_t number) {
    size_t at = place_of(packs, number);
    return at < packs->count && packs->all[at]->number == number ? packs->all[at] : NULL;
}

void packs_table_add(struct packs *packs, struct pack *pack) {
    pthread_mutex_lock(&packs->lock);
    packs->all = memory_grow(packs->all, (packs->count + 1) * sizeof(struct pack *));
    packs->all[packs->count++] = pack;
    pthread_mutex_unlock(&packs->lock);
}

void packs_table_leave(struct packs *packs, size_t at) {
    pthread_mutex_lock(&packs->lock);
    struct pack *pack = packs->all[at];
    memmove(packs->all + at, packs->all + at + 1, (packs->count - at - 1) * sizeof(struct pack *));
    packs->count--;
    pack->removed = true;
    bool idle = pack->readers == 0;
    pthread_mutex_unlock(&packs->lock);
    if (idle)
        pack_free(pack);
}

void packs_table_settle(struct packs *packs) {
    if (packs->current) {
        packs->settled = packs->current->number;
        packs->settled_end = packs->current->end;
    }
}
