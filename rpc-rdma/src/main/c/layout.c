/*
 * Offsets, sizes and constants that Java writes as numbers, as this build of the library has them.
 * The Java class Layouts looks each of its numbers up here before anything else is done.
 */
#include "device.h"
#include "event.h"
#include "native.h"

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>

#define SIZE(type) {"sizeof " #type, sizeof(struct type)}
#define OFFSET(type, field) {#type "." #field, offsetof(struct type, field)}
#define VALUE(name) {#name, name}

static const struct {
  const char *name;
  int64_t value;
} known[] = {
    SIZE(ibv_send_wr),
    OFFSET(ibv_send_wr, wr_id),
    OFFSET(ibv_send_wr, next),
    OFFSET(ibv_send_wr, sg_list),
    OFFSET(ibv_send_wr, num_sge),
    OFFSET(ibv_send_wr, opcode),
    OFFSET(ibv_send_wr, send_flags),
    OFFSET(ibv_send_wr, imm_data),
    OFFSET(ibv_send_wr, invalidate_rkey),
    OFFSET(ibv_send_wr, wr.rdma.remote_addr),
    OFFSET(ibv_send_wr, wr.rdma.rkey),
    OFFSET(ibv_send_wr, wr.atomic.compare_add),
    OFFSET(ibv_send_wr, wr.atomic.swap),
    OFFSET(ibv_send_wr, wr.atomic.rkey),
    OFFSET(ibv_send_wr, wr.ud.ah),
    OFFSET(ibv_send_wr, wr.ud.remote_qpn),
    OFFSET(ibv_send_wr, wr.ud.remote_qkey),
    OFFSET(ibv_send_wr, bind_mw.mw),
    OFFSET(ibv_send_wr, bind_mw.rkey),
    OFFSET(ibv_send_wr, bind_mw.bind_info.mr),
    OFFSET(ibv_send_wr, bind_mw.bind_info.addr),
    OFFSET(ibv_send_wr, bind_mw.bind_info.length),
    OFFSET(ibv_send_wr, bind_mw.bind_info.mw_access_flags),
    VALUE(IBV_WR_RDMA_WRITE),
    VALUE(IBV_WR_RDMA_WRITE_WITH_IMM),
    VALUE(IBV_WR_SEND),
    VALUE(IBV_WR_SEND_WITH_IMM),
    VALUE(IBV_WR_RDMA_READ),
    VALUE(IBV_WR_ATOMIC_CMP_AND_SWP),
    VALUE(IBV_WR_ATOMIC_FETCH_AND_ADD),
    VALUE(IBV_WR_LOCAL_INV),
    VALUE(IBV_WR_BIND_MW),
    VALUE(IBV_SEND_FENCE),
    VALUE(IBV_SEND_SIGNALED),
    VALUE(IBV_SEND_SOLICITED),
    VALUE(IBV_SEND_INLINE),
    SIZE(ibv_recv_wr),
    OFFSET(ibv_recv_wr, wr_id),
    OFFSET(ibv_recv_wr, next),
    OFFSET(ibv_recv_wr, sg_list),
    OFFSET(ibv_recv_wr, num_sge),
    SIZE(ibv_sge),
    OFFSET(ibv_sge, addr),
    OFFSET(ibv_sge, length),
    OFFSET(ibv_sge, lkey),
    SIZE(ibv_wc),
    OFFSET(ibv_wc, wr_id),
    OFFSET(ibv_wc, status),
    OFFSET(ibv_wc, opcode),
    OFFSET(ibv_wc, vendor_err),
    OFFSET(ibv_wc, byte_len),
    OFFSET(ibv_wc, imm_data),
    OFFSET(ibv_wc, qp_num),
    OFFSET(ibv_wc, src_qp),
    OFFSET(ibv_wc, wc_flags),
    VALUE(IBV_WC_SUCCESS),
    VALUE(IBV_WC_WR_FLUSH_ERR),
    VALUE(IBV_WC_LOC_PROT_ERR),
    VALUE(IBV_WC_REM_ACCESS_ERR),
    VALUE(IBV_WC_RETRY_EXC_ERR),
    VALUE(IBV_WC_RNR_RETRY_EXC_ERR),
    VALUE(IBV_WC_SEND),
    VALUE(IBV_WC_RDMA_WRITE),
    VALUE(IBV_WC_RDMA_READ),
    VALUE(IBV_WC_COMP_SWAP),
    VALUE(IBV_WC_FETCH_ADD),
    VALUE(IBV_WC_BIND_MW),
    VALUE(IBV_WC_LOCAL_INV),
    VALUE(IBV_WC_RECV),
    VALUE(IBV_WC_RECV_RDMA_WITH_IMM),
    VALUE(IBV_WC_GRH),
    VALUE(IBV_WC_WITH_IMM),
    VALUE(IBV_ACCESS_LOCAL_WRITE),
    VALUE(IBV_ACCESS_REMOTE_WRITE),
    VALUE(IBV_ACCESS_REMOTE_READ),
    VALUE(IBV_ACCESS_REMOTE_ATOMIC),
    VALUE(IBV_ACCESS_MW_BIND),
    SIZE(ibv_qp_cap),
    OFFSET(ibv_qp_cap, max_send_wr),
    OFFSET(ibv_qp_cap, max_recv_wr),
    OFFSET(ibv_qp_cap, max_send_sge),
    OFFSET(ibv_qp_cap, max_recv_sge),
    OFFSET(ibv_qp_cap, max_inline_data),
    SIZE(ibv_qp_attr),
    OFFSET(ibv_qp_attr, qp_state),
    OFFSET(ibv_qp_attr, path_mtu),
    OFFSET(ibv_qp_attr, dest_qp_num),
    OFFSET(ibv_qp_attr, qp_access_flags),
    OFFSET(ibv_qp_attr, cap),
    OFFSET(ibv_qp_attr, max_rd_atomic),
    OFFSET(ibv_qp_attr, max_dest_rd_atomic),
    OFFSET(ibv_qp_attr, min_rnr_timer),
    OFFSET(ibv_qp_attr, port_num),
    OFFSET(ibv_qp_attr, timeout),
    OFFSET(ibv_qp_attr, retry_cnt),
    OFFSET(ibv_qp_attr, rnr_retry),
    VALUE(IBV_QPS_RTS),
    VALUE(IBV_QPS_ERR),
    SIZE(ibv_device_attr),
    OFFSET(ibv_device_attr, max_mr_size),
    OFFSET(ibv_device_attr, max_qp),
    OFFSET(ibv_device_attr, max_qp_wr),
    OFFSET(ibv_device_attr, device_cap_flags),
    OFFSET(ibv_device_attr, max_sge),
    OFFSET(ibv_device_attr, max_sge_rd),
    OFFSET(ibv_device_attr, max_cqe),
    OFFSET(ibv_device_attr, max_qp_rd_atom),
    OFFSET(ibv_device_attr, max_qp_init_rd_atom),
    OFFSET(ibv_device_attr, atomic_cap),
    OFFSET(ibv_device_attr, max_mw),
    OFFSET(ibv_device_attr, max_ah),
    OFFSET(ibv_device_attr, phys_port_cnt),
    VALUE(IBV_ATOMIC_NONE),
    VALUE(IBV_ATOMIC_HCA),
    VALUE(IBV_ATOMIC_GLOB),
    VALUE(IBV_DEVICE_MEM_MGT_EXTENSIONS),
    VALUE(IBV_DEVICE_MEM_WINDOW_TYPE_2A),
    VALUE(IBV_DEVICE_MEM_WINDOW_TYPE_2B),
    SIZE(ibv_port_attr),
    OFFSET(ibv_port_attr, state),
    OFFSET(ibv_port_attr, active_mtu),
    OFFSET(ibv_port_attr, gid_tbl_len),
    OFFSET(ibv_port_attr, max_msg_sz),
    OFFSET(ibv_port_attr, lid),
    OFFSET(ibv_port_attr, link_layer),
    VALUE(IBV_PORT_ACTIVE),
    VALUE(IBV_LINK_LAYER_INFINIBAND),
    VALUE(IBV_LINK_LAYER_ETHERNET),
    SIZE(ibv_gid_entry),
    OFFSET(ibv_gid_entry, gid),
    OFFSET(ibv_gid_entry, gid_type),
    VALUE(IBV_GID_TYPE_ROCE_V2),
    SIZE(ibv_grh),
    SIZE(ringfetch_event),
    OFFSET(ringfetch_event, type),
    OFFSET(ringfetch_event, status),
    OFFSET(ringfetch_event, id),
    OFFSET(ringfetch_event, listen_id),
    OFFSET(ringfetch_event, qp_number),
    OFFSET(ringfetch_event, responder_resources),
    OFFSET(ringfetch_event, initiator_depth),
    OFFSET(ringfetch_event, retry_count),
    OFFSET(ringfetch_event, rnr_retry_count),
    OFFSET(ringfetch_event, private_length),
    OFFSET(ringfetch_event, private_data),
    VALUE(RDMA_CM_EVENT_ADDR_RESOLVED),
    VALUE(RDMA_CM_EVENT_ADDR_ERROR),
    VALUE(RDMA_CM_EVENT_ROUTE_RESOLVED),
    VALUE(RDMA_CM_EVENT_ROUTE_ERROR),
    VALUE(RDMA_CM_EVENT_CONNECT_REQUEST),
    VALUE(RDMA_CM_EVENT_CONNECT_ERROR),
    VALUE(RDMA_CM_EVENT_UNREACHABLE),
    VALUE(RDMA_CM_EVENT_REJECTED),
    VALUE(RDMA_CM_EVENT_ESTABLISHED),
    VALUE(RDMA_CM_EVENT_DISCONNECTED),
    VALUE(RDMA_CM_EVENT_DEVICE_REMOVAL),
    VALUE(RDMA_CM_EVENT_ADDR_CHANGE),
    VALUE(RDMA_CM_EVENT_TIMEWAIT_EXIT),
    VALUE(RDMA_MAX_RESP_RES),
    SIZE(ringfetch_device_event),
    OFFSET(ringfetch_device_event, element),
    OFFSET(ringfetch_device_event, type),
    OFFSET(ringfetch_device_event, kind),
    VALUE(ELEMENT_DEVICE),
    VALUE(ELEMENT_PORT),
    VALUE(ELEMENT_QUEUE_PAIR),
    VALUE(ELEMENT_COMPLETION_QUEUE),
    VALUE(ELEMENT_OTHER),
    SIZE(pollfd),
    OFFSET(pollfd, fd),
    OFFSET(pollfd, events),
    OFFSET(pollfd, revents),
    VALUE(POLLIN),
    VALUE(AF_INET),
    VALUE(AF_INET6),
    OFFSET(sockaddr_in, sin_port),
    OFFSET(sockaddr_in, sin_addr),
    SIZE(sockaddr_in6),
    OFFSET(sockaddr_in6, sin6_addr),
    OFFSET(sockaddr_in6, sin6_scope_id),
};

#define COUNT (sizeof known / sizeof known[0])

RINGFETCH(jint, Layouts, count)(JAVA) { return COUNT; }

/* The value of a name, or -1 where it is not known. */
RINGFETCH(jlong, Layouts, value)(JAVA, jstring wanted) {
  const char *name = (*env)->GetStringUTFChars(env, wanted, NULL);
  if (name == NULL) {
    return -1;
  }
  int64_t value = -1;
  for (size_t i = 0; i < COUNT; i++) {
    if (strcmp(known[i].name, name) == 0) {
      value = known[i].value;
      break;
    }
  }
  (*env)->ReleaseStringUTFChars(env, wanted, name);
  return value;
}
