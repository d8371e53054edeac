/* sim_disk: a disk in memory behind the disk port that fails on demand, the same way for a seed.
 *
 * What was not synced may be lost, kept or torn when the power is cut, whatever its order; so may
 * names that were made, removed or renamed without sync_dir. Counted calls are those that change
 * something: make_dir, open that creates, write, allocate, sync, remove, rename, link,
 * sync_dir. */
#ifndef SIM_DISK_H
#define SIM_DISK_H

#include <stdbool.h>

#include "port/disk.h"

struct sim_disk;

struct sim_disk *sim_disk_new(uint64_t seed);
void sim_disk_free(struct sim_disk *sim); /* after every file was closed */
struct disk *sim_disk_port(struct sim_disk *sim);

uint64_t sim_disk_calls(const struct sim_disk *sim);
/* The machine dies before the n-th counted call from now (1: the next); that call may have half
 * happened. Every call then is EIO until sim_disk_crash. 0: no death is planned. */
void sim_disk_crash_at(struct sim_disk *sim, uint64_t calls);
bool sim_disk_is_dead(const struct sim_disk *sim);
/* Cuts the power and switches it on again: what is there now is what a machine would find. Files
 * that were open are EIO from now on and want closing. */
void sim_disk_crash(struct sim_disk *sim);

/* After `calls` more counted calls, `count` of them fail with `error`. */
void sim_disk_fail_after(struct sim_disk *sim, uint64_t calls, uint64_t count, int error);
/* ENOSPC above so many bytes of files; 0: no bound. */
void sim_disk_set_capacity(struct sim_disk *sim, uint64_t bytes);
/* Damage on the platter. False: there is no such byte. */
bool sim_disk_flip(struct sim_disk *sim, const char *path, uint64_t at, unsigned bit);
/* Cuts a file, or makes it longer with zeroes; unsynced as a write is. */
int sim_disk_truncate(struct sim_disk *sim, struct disk_file *file, uint64_t size);
bool sim_disk_exists(const struct sim_disk *sim, const char *path);

#endif
