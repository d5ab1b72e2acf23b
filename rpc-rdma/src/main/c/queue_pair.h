/* Creation of queue pairs, shared by reliable connections and datagrams. */
#ifndef RINGFETCH_QUEUE_PAIR_H
#define RINGFETCH_QUEUE_PAIR_H

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Attributes of a queue pair whose work requests complete only where they say so. */
struct ibv_qp_init_attr queue_pair_attributes(enum ibv_qp_type type, struct ibv_cq *send_cq,
                                              struct ibv_cq *receive_cq,
                                              const struct ibv_qp_cap *capacity);

/* Asks for less inline data after a refusal; false when there is nothing left to give up. */
bool ask_less_inline(struct ibv_qp_cap *capacity);

#endif
