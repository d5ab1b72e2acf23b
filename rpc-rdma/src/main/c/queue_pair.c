/* Queue pairs of reliable connections: creation, attributes, and posting. */
#include "queue_pair.h"

#include "native.h"

#include <rdma/rdma_cma.h>
#include <string.h>

/* Below this an inline message is not worth another attempt. */
#define LEAST_INLINE 16

/* The timer's code has five bits. */
#define MAX_TIMER_CODE 31

struct ibv_qp_init_attr queue_pair_attributes(enum ibv_qp_type type, struct ibv_cq *send_cq,
                                              struct ibv_cq *receive_cq,
                                              const struct ibv_qp_cap *capacity) {
  return (struct ibv_qp_init_attr){
      .send_cq = send_cq, .recv_cq = receive_cq, .cap = *capacity, .qp_type = type,
      .sq_sig_all = 0};
}

bool ask_less_inline(struct ibv_qp_cap *capacity) {
  uint32_t inline_data = capacity->max_inline_data;
  capacity->max_inline_data = inline_data / 2 < LEAST_INLINE ? 0 : inline_data / 2;
  return inline_data > 0;
}

RINGFETCH(jlong, QueuePairs, create)(JAVA, jlong handle, jlong pd, jlong sendCq, jlong receiveCq,
                                     jlong capacityAddress) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, handle);
  struct ibv_qp_cap *capacity = POINTER(struct ibv_qp_cap, capacityAddress);
  struct ibv_qp_cap wanted = *capacity;
  do {
    struct ibv_qp_init_attr attributes =
        queue_pair_attributes(IBV_QPT_RC, POINTER(struct ibv_cq, sendCq),
                              POINTER(struct ibv_cq, receiveCq), &wanted);
    if (rdma_create_qp(id, POINTER(struct ibv_pd, pd), &attributes) == 0) {
      *capacity = attributes.cap;
      return HANDLE(id->qp);
    }
  } while (ask_less_inline(&wanted));
  throw_errno(env, "rdma_create_qp", errno_of(-1));
  return -1;
}

/* Without effect if the id has no queue pair. */
RINGFETCH(void, QueuePairs, destroy)(JAVA, jlong handle) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, handle);
  if (id->qp != NULL) {
    rdma_destroy_qp(id);
  }
}

RINGFETCH(jint, QueuePairs, number)(JAVA, jlong qp) {
  return (jint)POINTER(struct ibv_qp, qp)->qp_num;
}

static void modify(JNIEnv *env, jlong qp, struct ibv_qp_attr *attributes, int mask) {
  check(env, "ibv_modify_qp", ibv_modify_qp(POINTER(struct ibv_qp, qp), attributes, mask));
}

RINGFETCH(void, QueuePairs, changeAccess)(JAVA, jlong qp, jint access) {
  struct ibv_qp_attr attributes = {.qp_access_flags = (unsigned)access};
  modify(env, qp, &attributes, IBV_QP_ACCESS_FLAGS);
}

RINGFETCH(void, QueuePairs, changeMinRnrTimer)(JAVA, jlong qp, jint code) {
  if (!in_range(env, "code", code, MAX_TIMER_CODE)) {
    return;
  }
  struct ibv_qp_attr attributes = {.min_rnr_timer = (uint8_t)code};
  modify(env, qp, &attributes, IBV_QP_MIN_RNR_TIMER);
}

RINGFETCH(void, QueuePairs, fail)(JAVA, jlong qp) {
  struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_ERR};
  modify(env, qp, &attributes, IBV_QP_STATE);
}

RINGFETCH(void, QueuePairs, query)(JAVA, jlong qp, jlong out) {
  struct ibv_qp_init_attr initial;
  struct ibv_qp_attr *attributes = POINTER(struct ibv_qp_attr, out);
  memset(attributes, 0, sizeof *attributes);
  check(env, "ibv_query_qp",
        ibv_query_qp(POINTER(struct ibv_qp, qp), attributes,
                     IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_CAP | IBV_QP_PATH_MTU |
                         IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC |
                         IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                         IBV_QP_RNR_RETRY | IBV_QP_DEST_QPN | IBV_QP_PORT | IBV_QP_PKEY_INDEX,
                     &initial));
}

/*
 * The errno, negated, in the low half; in the high half the index of the request not posted. Where
 * the driver does not say which that is, the index is the list's length: any of it may be posted.
 */
static jlong refused(int error, uint32_t index) {
  return (jlong)(((uint64_t)index << 32) | (uint32_t)-error);
}

RINGFETCH(jlong, QueuePairs, postSend)(JAVA, jlong qp, jlong first) {
  struct ibv_send_wr *bad = NULL;
  struct ibv_send_wr *request = POINTER(struct ibv_send_wr, first);
  int result = ibv_post_send(POINTER(struct ibv_qp, qp), request, &bad);
  if (result == 0) {
    return 0;
  }
  int error = errno_of(result);
  uint32_t index = 0;
  for (; request != NULL && request != bad; request = request->next) {
    index++;
  }
  return refused(error, index);
}

RINGFETCH(jlong, QueuePairs, postReceive)(JAVA, jlong qp, jlong first) {
  struct ibv_recv_wr *bad = NULL;
  struct ibv_recv_wr *request = POINTER(struct ibv_recv_wr, first);
  int result = ibv_post_recv(POINTER(struct ibv_qp, qp), request, &bad);
  if (result == 0) {
    return 0;
  }
  int error = errno_of(result);
  uint32_t index = 0;
  for (; request != NULL && request != bad; request = request->next) {
    index++;
  }
  return refused(error, index);
}
