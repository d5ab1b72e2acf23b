/* DiSNI's NativeDispatcher: the layouts that its Java half asks for before it builds anything. */
#include "native.h"

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <stddef.h>

/* The revision of the native interface that DiSNI 2.0 and 2.1 insist on. */
#define INTERFACE_VERSION 32

DISNI(jint, getVersion)(JAVA) { return INTERFACE_VERSION; }

DISNI(jint, getSockAddrInSize)(JAVA) { return sizeof(struct sockaddr_in); }

DISNI(jint, getIbvRecvWRSize)(JAVA) { return sizeof(struct ibv_recv_wr); }

DISNI(jint, getIbvSendWRSize)(JAVA) { return sizeof(struct ibv_send_wr); }

DISNI(jint, getIbvSgeSize)(JAVA) { return sizeof(struct ibv_sge); }

DISNI(jint, getIbvWCSize)(JAVA) { return sizeof(struct ibv_wc); }

DISNI(jint, getRemoteAddressOffset)(JAVA) {
  return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISNI(jint, getRKeyOffset)(JAVA) { return offsetof(struct ibv_send_wr, wr.rdma.rkey); }
