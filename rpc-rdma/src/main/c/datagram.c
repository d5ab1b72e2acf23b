/* Unreliable datagrams: queue pairs without a connection, and handles of peers' addresses. */
#include "native.h"
#include "queue_pair.h"

#include <string.h>

RINGFETCH(jlong, Datagrams, create)(JAVA, jlong pd, jlong sendCq, jlong receiveCq,
                                    jlong capacityAddress) {
  struct ibv_qp_cap *capacity = POINTER(struct ibv_qp_cap, capacityAddress);
  struct ibv_qp_cap wanted = *capacity;
  do {
    struct ibv_qp_init_attr attributes =
        queue_pair_attributes(IBV_QPT_UD, POINTER(struct ibv_cq, sendCq),
                              POINTER(struct ibv_cq, receiveCq), &wanted);
    struct ibv_qp *qp = ibv_create_qp(POINTER(struct ibv_pd, pd), &attributes);
    if (qp != NULL) {
      *capacity = attributes.cap;
      return HANDLE(qp);
    }
  } while (ask_less_inline(&wanted));
  throw_errno(env, "ibv_create_qp", errno_of(-1));
  return -1;
}

/* Moves a new queue pair through INIT and ready-to-receive to ready-to-send. */
RINGFETCH(void, Datagrams, activate)(JAVA, jlong handle, jint port, jint pkeyIndex, jint qkey) {
  struct ibv_qp *qp = POINTER(struct ibv_qp, handle);
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                             .pkey_index = (uint16_t)pkeyIndex,
                             .port_num = (uint8_t)port,
                             .qkey = (uint32_t)qkey};
  struct ibv_qp_attr receive = {.qp_state = IBV_QPS_RTR};
  struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS, .sq_psn = 0};
  int result = ibv_modify_qp(
      qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY);
  if (result == 0) {
    result = ibv_modify_qp(qp, &receive, IBV_QP_STATE);
  }
  if (result == 0) {
    result = ibv_modify_qp(qp, &send, IBV_QP_STATE | IBV_QP_SQ_PSN);
  }
  check(env, "ibv_modify_qp", result);
}

RINGFETCH(void, Datagrams, destroy)(JAVA, jlong qp) {
  check(env, "ibv_destroy_qp", ibv_destroy_qp(POINTER(struct ibv_qp, qp)));
}

RINGFETCH(jlong, Datagrams, createHandle)(JAVA, jlong pd, jint port, jint gidIndex, jlong gid,
                                          jint lid, jint serviceLevel, jint hopLimit) {
  struct ibv_ah_attr attributes = {.dlid = (uint16_t)lid,
                                   .sl = (uint8_t)serviceLevel,
                                   .port_num = (uint8_t)port};
  if (gid != 0) {
    attributes.is_global = 1;
    attributes.grh.sgid_index = (uint8_t)gidIndex;
    attributes.grh.hop_limit = (uint8_t)hopLimit;
    memcpy(&attributes.grh.dgid, POINTER(void, gid), sizeof attributes.grh.dgid);
  }
  return created(env, "ibv_create_ah", ibv_create_ah(POINTER(struct ibv_pd, pd), &attributes));
}

/* Address attributes of a connected queue pair's peer, as the connection manager resolved them. */
RINGFETCH(jlong, Datagrams, createHandleOfPeer)(JAVA, jlong pd, jlong qp) {
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr initial;
  memset(&attributes, 0, sizeof attributes);
  int result =
      ibv_query_qp(POINTER(struct ibv_qp, qp), &attributes, IBV_QP_AV | IBV_QP_PORT, &initial);
  if (result != 0) {
    throw_errno(env, "ibv_query_qp", errno_of(result));
    return -1;
  }
  if (attributes.ah_attr.port_num == 0) {
    attributes.ah_attr.port_num = attributes.port_num;
  }
  return created(env, "ibv_create_ah",
                 ibv_create_ah(POINTER(struct ibv_pd, pd), &attributes.ah_attr));
}

/* Address attributes of a received datagram's sender; the first 40 bytes are the route header. */
RINGFETCH(jlong, Datagrams, createHandleOfSender)(JAVA, jlong pd, jlong completion,
                                                  jlong routeHeader, jint port) {
  return created(env, "ibv_create_ah_from_wc",
                 ibv_create_ah_from_wc(POINTER(struct ibv_pd, pd),
                                       POINTER(struct ibv_wc, completion),
                                       POINTER(struct ibv_grh, routeHeader), (uint8_t)port));
}

RINGFETCH(void, Datagrams, destroyHandle)(JAVA, jlong ah) {
  check(env, "ibv_destroy_ah", ibv_destroy_ah(POINTER(struct ibv_ah, ah)));
}
