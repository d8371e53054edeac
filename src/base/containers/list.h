/* list: intrusive, doubly linked, circular, with a head. A node is in one list at a time. */
#ifndef BASE_CONTAINERS_LIST_H
#define BASE_CONTAINERS_LIST_H

#include <stdbool.h>
#include <stddef.h>

struct list {
    struct list *next;
    struct list *prev;
};

#define CONTAINER_OF(node, type, member) ((type *)(void *)((char *)(node)-offsetof(type, member)))

static inline void list_init(struct list *head) {
    head->next = head->prev = head;
}

static inline bool list_empty(const struct list *head) {
    return head->next == head;
}

static inline void list_insert_after(struct list *at, struct list *node) {
    node->prev = at;
    node->next = at->next;
    at->next->prev = node;
    at->next = node;
}

static inline void list_push_front(struct list *head, struct list *node) {
    list_insert_after(head, node);
}

static inline void list_push_back(struct list *head, struct list *node) {
    list_insert_after(head->prev, node);
}

/* Unlinks the node and leaves it as an empty list; does nothing if it is not linked. */
static inline void list_remove(struct list *node) {
    node->prev->next = node->next;
    node->next->prev = node->prev;
    list_init(node);
}

/* The first node, unlinked, or NULL. */
static inline struct list *list_pop_front(struct list *head) {
    if (list_empty(head))
        return NULL;
    struct list *node = head->next;
    list_remove(node);
    return node;
}

/* Unlinks all nodes without freeing them. */
static inline void list_clear(struct list *head) {
    while (list_pop_front(head))
        continue;
}

#define LIST_EACH(node, head)                                                                      \
    for (struct list *node = (head)->next; node != (head); node = node->next)
/* The node may be unlinked or freed inside the loop. */
#define LIST_EACH_SAFE(node, head)                                                                 \
    for (struct list *node = (head)->next, *node##_next = node->next; node != (head);              \
         node = node##_next, node##_next = node->next)

#endif
