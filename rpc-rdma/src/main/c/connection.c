/* Connection management beyond DiSNI's calls: both address families, private data. */
#include "event.h"
#include "native.h"

#include <netinet/in.h>
#include <string.h>

/* Retries and timers are numbers of so many bits on the wire. */
#define MAX_RETRIES 7
#define MAX_EXPONENT 31

RINGFETCH(jint, ConnectionManager, channelDescriptor)(JAVA, jlong channel) {
  return POINTER(struct rdma_event_channel, channel)->fd;
}

RINGFETCH(void, ConnectionManager, migrate)(JAVA, jlong id, jlong channel) {
  check(env, "rdma_migrate_id",
        rdma_migrate_id(POINTER(struct rdma_cm_id, id),
                        POINTER(struct rdma_event_channel, channel)));
}

RINGFETCH(void, ConnectionManager, setReuseAddress)(JAVA, jlong id, jboolean reuse) {
  int value = reuse;
  check(env, "rdma_set_option(REUSEADDR)",
        rdma_set_option(POINTER(struct rdma_cm_id, id), RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR,
                        &value, sizeof value));
}

RINGFETCH(void, ConnectionManager, setAckTimeout)(JAVA, jlong id, jint exponent) {
  if (!in_range(env, "exponent", exponent, MAX_EXPONENT)) {
    return;
  }
  uint8_t value = (uint8_t)exponent;
  check(env, "rdma_set_option(ACK_TIMEOUT)",
        rdma_set_option(POINTER(struct rdma_cm_id, id), RDMA_OPTION_ID,
                        RDMA_OPTION_ID_ACK_TIMEOUT, &value, sizeof value));
}

RINGFETCH(void, ConnectionManager, setTypeOfService)(JAVA, jlong id, jint typeOfService) {
  if (!in_range(env, "typeOfService", typeOfService, UINT8_MAX)) {
    return;
  }
  uint8_t value = (uint8_t)typeOfService;
  check(env, "rdma_set_option(TOS)",
        rdma_set_option(POINTER(struct rdma_cm_id, id), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &value,
                        sizeof value));
}

RINGFETCH(void, ConnectionManager, bind)(JAVA, jlong id, jlong address) {
  check(env, "rdma_bind_addr",
        rdma_bind_addr(POINTER(struct rdma_cm_id, id), POINTER(struct sockaddr, address)));
}

RINGFETCH(void, ConnectionManager, resolveAddress)(JAVA, jlong id, jlong source,
                                                   jlong destination, jint timeoutMs) {
  check(env, "rdma_resolve_addr",
        rdma_resolve_addr(POINTER(struct rdma_cm_id, id), POINTER(struct sockaddr, source),
                          POINTER(struct sockaddr, destination), timeoutMs));
}

/* False after an exception was thrown. */
static bool set_parameters(JNIEnv *env, struct rdma_conn_param *parameters, jint depths,
                           jint retries, jint rnrRetries, jlong data, jint length) {
  if (!in_range(env, "depths", depths, UINT8_MAX) ||
      !in_range(env, "retries", retries, MAX_RETRIES) ||
      !in_range(env, "rnrRetries", rnrRetries, MAX_RETRIES) ||
      !in_range(env, "length", length, UINT8_MAX)) {
    return false;
  }
  *parameters = (struct rdma_conn_param){
      .private_data = length > 0 ? POINTER(void, data) : NULL,
      .private_data_len = (uint8_t)length,
      .responder_resources = (uint8_t)depths,
      .initiator_depth = (uint8_t)depths,
      .retry_count = (uint8_t)retries,
      .rnr_retry_count = (uint8_t)rnrRetries,
  };
  return true;
}

RINGFETCH(void, ConnectionManager, connect)(JAVA, jlong id, jint depths, jint retries,
                                            jint rnrRetries, jlong data, jint length) {
  struct rdma_conn_param parameters;
  if (set_parameters(env, &parameters, depths, retries, rnrRetries, data, length)) {
    check(env, "rdma_connect", rdma_connect(POINTER(struct rdma_cm_id, id), &parameters));
  }
}

RINGFETCH(void, ConnectionManager, accept)(JAVA, jlong id, jint depths, jint rnrRetries,
                                           jlong data, jint length) {
  struct rdma_conn_param parameters;
  if (set_parameters(env, &parameters, depths, 0, rnrRetries, data, length)) {
    check(env, "rdma_accept", rdma_accept(POINTER(struct rdma_cm_id, id), &parameters));
  }
}

RINGFETCH(void, ConnectionManager, reject)(JAVA, jlong id, jlong data, jint length) {
  if (in_range(env, "length", length, UINT8_MAX)) {
    check(env, "rdma_reject",
          rdma_reject(POINTER(struct rdma_cm_id, id), length > 0 ? POINTER(void, data) : NULL,
                      (uint8_t)length));
  }
}

RINGFETCH(jlong, ConnectionManager, context)(JAVA, jlong id) {
  return HANDLE(POINTER(struct rdma_cm_id, id)->verbs);
}

RINGFETCH(jint, ConnectionManager, port)(JAVA, jlong id) {
  return POINTER(struct rdma_cm_id, id)->port_num;
}

/* Writes a sockaddr_in6 or shorter; all zeros for a family that is neither. */
static void copy_address(const struct sockaddr *address, jlong out) {
  size_t length = address->sa_family == AF_INET    ? sizeof(struct sockaddr_in)
                  : address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                                   : 0;
  memset(POINTER(void, out), 0, sizeof(struct sockaddr_in6));
  memcpy(POINTER(void, out), address, length);
}

RINGFETCH(void, ConnectionManager, localAddress)(JAVA, jlong id, jlong out) {
  copy_address(rdma_get_local_addr(POINTER(struct rdma_cm_id, id)), out);
}

RINGFETCH(void, ConnectionManager, peerAddress)(JAVA, jlong id, jlong out) {
  copy_address(rdma_get_peer_addr(POINTER(struct rdma_cm_id, id)), out);
}
