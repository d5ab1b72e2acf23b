/* DiSNI's NativeDispatcher: connection management over librdmacm. */
#include "event.h"
#include "native.h"

#include <netinet/in.h>
#include <string.h>

/* Scatter-gather entries of a work request; DiSNI's call does not say. */
#define MAX_SGE 4

/* Its descriptor is non-blocking. */
DISNI(jlong, createEventChannel)(JAVA) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (channel != NULL) {
    int result = set_nonblocking(channel->fd);
    if (result != 0) {
      rdma_destroy_event_channel(channel);
      throw_errno(env, "fcntl", -result);
      return -1;
    }
  }
  return created(env, "rdma_create_event_channel", channel);
}

DISNI(jint, destroyEventChannel)(JAVA, jlong channel) {
  rdma_destroy_event_channel(POINTER(struct rdma_event_channel, channel));
  return 0;
}

DISNI(jlong, createId)(JAVA, jlong channel, jshort portSpace) {
  struct rdma_cm_id *id = NULL;
  check(env, "rdma_create_id",
        rdma_create_id(POINTER(struct rdma_event_channel, channel), &id, NULL,
                       (enum rdma_port_space)(uint16_t)portSpace));
  return id == NULL ? -1 : HANDLE(id);
}

DISNI(jint, destroyCmId)(JAVA, jlong id) {
  return -errno_of(rdma_destroy_id(POINTER(struct rdma_cm_id, id)));
}

DISNI(jint, destroyEp)(JAVA, jlong id) {
  rdma_destroy_ep(POINTER(struct rdma_cm_id, id));
  return 0;
}

DISNI(void, bindAddr)(JAVA, jlong id, jlong address) {
  check(env, "rdma_bind_addr",
        rdma_bind_addr(POINTER(struct rdma_cm_id, id), POINTER(struct sockaddr, address)));
}

DISNI(void, listen)(JAVA, jlong id, jint backlog) {
  check(env, "rdma_listen", rdma_listen(POINTER(struct rdma_cm_id, id), backlog));
}

DISNI(void, resolveAddr)(JAVA, jlong id, jlong source, jlong destination, jint timeoutMs) {
  check(env, "rdma_resolve_addr",
        rdma_resolve_addr(POINTER(struct rdma_cm_id, id), POINTER(struct sockaddr, source),
                          POINTER(struct sockaddr, destination), timeoutMs));
}

DISNI(void, resolveRoute)(JAVA, jlong id, jint timeoutMs) {
  check(env, "rdma_resolve_route",
        rdma_resolve_route(POINTER(struct rdma_cm_id, id), timeoutMs));
}

/* Writes the listening id and the id, -1 where there is none. -1 for timeout and failure. */
DISNI(jint, getCmEvent)(JAVA, jlong channel, jlong listenId, jlong clientId, jint timeoutMs) {
  struct ringfetch_event event;
  if (take_event(POINTER(struct rdma_event_channel, channel), &event, timeoutMs) <= 0) {
    return -1;
  }
  *POINTER(int64_t, listenId) = event.listen_id == 0 ? -1 : event.listen_id;
  *POINTER(int64_t, clientId) = event.id == 0 ? -1 : event.id;
  return event.type;
}

/* Done when the event was taken: Java passes no more than its type. */
DISNI(jint, ackCmEvent)(JAVA, jint type UNUSED) { return 0; }

DISNI(void, connect)(JAVA, jlong id, jint retries, jint rnrRetries, jlong data, jbyte length) {
  struct rdma_conn_param parameters = {
      .private_data = length > 0 ? POINTER(void, data) : NULL,
      .private_data_len = length > 0 ? (uint8_t)length : 0,
      .responder_resources = RDMA_MAX_RESP_RES,
      .initiator_depth = RDMA_MAX_INIT_DEPTH,
      .retry_count = (uint8_t)retries,
      .rnr_retry_count = (uint8_t)rnrRetries,
  };
  check(env, "rdma_connect", rdma_connect(POINTER(struct rdma_cm_id, id), &parameters));
}

DISNI(void, accept)(JAVA, jlong id, jint retries, jint rnrRetries) {
  struct rdma_conn_param parameters = {
      .responder_resources = RDMA_MAX_RESP_RES,
      .initiator_depth = RDMA_MAX_INIT_DEPTH,
      .retry_count = (uint8_t)retries,
      .rnr_retry_count = (uint8_t)rnrRetries,
  };
  check(env, "rdma_accept", rdma_accept(POINTER(struct rdma_cm_id, id), &parameters));
}

DISNI(jint, disconnect)(JAVA, jlong id) {
  return -errno_of(rdma_disconnect(POINTER(struct rdma_cm_id, id)));
}

DISNI(jlong, createQP)(JAVA, jlong handle, jlong pd, jlong sendCq, jlong receiveCq, jint type,
                       jint maxSends, jint maxReceives, jint maxInline) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, handle);
  struct ibv_qp_init_attr attributes = {
      .send_cq = POINTER(struct ibv_cq, sendCq),
      .recv_cq = POINTER(struct ibv_cq, receiveCq),
      .cap = {.max_send_wr = (uint32_t)maxSends,
              .max_recv_wr = (uint32_t)maxReceives,
              .max_send_sge = MAX_SGE,
              .max_recv_sge = MAX_SGE,
              .max_inline_data = (uint32_t)maxInline},
      .qp_type = (enum ibv_qp_type)type,
  };
  if (rdma_create_qp(id, POINTER(struct ibv_pd, pd), &attributes) != 0) {
    throw_errno(env, "rdma_create_qp", errno_of(-1));
    return -1;
  }
  return HANDLE(id->qp);
}

/* The argument is the connection's id. Without effect if it has no queue pair. */
DISNI(jint, destroyQP)(JAVA, jlong handle) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, handle);
  if (id->qp != NULL) {
    rdma_destroy_qp(id);
  }
  return 0;
}

/* DiSNI's Java half passes no attributes. QueuePairs has calls that do. */
DISNI(jint, modifyQP)(JAVA, jlong qp UNUSED, jlong attributes UNUSED) {
  throw_io(env, "ibv_modify_qp: the call carries no attributes");
  return -1;
}

/* DiSNI reads the result as an IPv4 address, so there is none of another family. */
static jint copy_ipv4(const struct sockaddr *address, jlong out) {
  if (address->sa_family != AF_INET) {
    return -1;
  }
  memcpy(POINTER(void, out), address, sizeof(struct sockaddr_in));
  return 0;
}

DISNI(jint, getSrcAddr)(JAVA, jlong id, jlong out) {
  return copy_ipv4(rdma_get_local_addr(POINTER(struct rdma_cm_id, id)), out);
}

DISNI(jint, getDstAddr)(JAVA, jlong id, jlong out) {
  return copy_ipv4(rdma_get_peer_addr(POINTER(struct rdma_cm_id, id)), out);
}

/* -1 while the id is not bound to a device. */
DISNI(jlong, getContext)(JAVA, jlong id) {
  struct ibv_context *context = POINTER(struct rdma_cm_id, id)->verbs;
  return context == NULL ? -1 : HANDLE(context);
}
