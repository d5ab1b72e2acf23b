package dev.ringfetch.rdma.natives;

import java.util.Map;
import java.util.TreeMap;

/**
 * Check of this package's numbers against the C headers that the library was compiled with: looks
 * up each offset, size and constant by its name in C, once, before anything else.
 */
public final class Layouts {
  private Layouts() {}

  /**
   * Compares all numbers with the library's.
   *
   * @throws IllegalStateException if a number differs or only one side has it.
   */
  public static void verify() {
    final Map<String, Integer> expected = expected();
    if (expected.size() != count()) {
      throw new IllegalStateException(
          "layouts here=" + expected.size() + " in the library=" + count());
    }
    expected.forEach(
        (name, value) -> {
          if (value(name) != value) {
            throw new IllegalStateException(
                name + " here=" + value + " in the library=" + value(name));
          }
        });
  }

  /** The numbers of this package, by their names in C. */
  public static Map<String, Integer> expected() {
    final Map<String, Integer> layout = new TreeMap<>();
    layout.put("RDMA_MAX_RESP_RES", ConnectionManager.ALL);
    layout.put("sizeof ibv_send_wr", SendLayout.SIZE);
    layout.put("ibv_send_wr.wr_id", SendLayout.ID);
    layout.put("ibv_send_wr.next", SendLayout.NEXT);
    layout.put("ibv_send_wr.sg_list", SendLayout.SCATTER);
    layout.put("ibv_send_wr.num_sge", SendLayout.SCATTER_COUNT);
    layout.put("ibv_send_wr.opcode", SendLayout.OPCODE);
    layout.put("ibv_send_wr.send_flags", SendLayout.FLAGS);
    layout.put("ibv_send_wr.imm_data", SendLayout.IMMEDIATE);
    layout.put("ibv_send_wr.invalidate_rkey", SendLayout.INVALIDATED_KEY);
    layout.put("ibv_send_wr.wr.rdma.remote_addr", SendLayout.REMOTE_ADDRESS);
    layout.put("ibv_send_wr.wr.rdma.rkey", SendLayout.REMOTE_KEY);
    layout.put("ibv_send_wr.wr.atomic.compare_add", SendLayout.ATOMIC_OPERAND);
    layout.put("ibv_send_wr.wr.atomic.swap", SendLayout.ATOMIC_SWAP);
    layout.put("ibv_send_wr.wr.atomic.rkey", SendLayout.ATOMIC_KEY);
    layout.put("ibv_send_wr.wr.ud.ah", SendLayout.DATAGRAM_HANDLE);
    layout.put("ibv_send_wr.wr.ud.remote_qpn", SendLayout.DATAGRAM_QUEUE_PAIR);
    layout.put("ibv_send_wr.wr.ud.remote_qkey", SendLayout.DATAGRAM_QUEUE_KEY);
    layout.put("ibv_send_wr.bind_mw.mw", SendLayout.WINDOW);
    layout.put("ibv_send_wr.bind_mw.rkey", SendLayout.WINDOW_KEY);
    layout.put("ibv_send_wr.bind_mw.bind_info.mr", SendLayout.WINDOW_REGION);
    layout.put("ibv_send_wr.bind_mw.bind_info.addr", SendLayout.WINDOW_ADDRESS);
    layout.put("ibv_send_wr.bind_mw.bind_info.length", SendLayout.WINDOW_LENGTH);
    layout.put("ibv_send_wr.bind_mw.bind_info.mw_access_flags", SendLayout.WINDOW_ACCESS);
    layout.put("IBV_WR_RDMA_WRITE", SendLayout.WRITE);
    layout.put("IBV_WR_RDMA_WRITE_WITH_IMM", SendLayout.WRITE_WITH_IMMEDIATE);
    layout.put("IBV_WR_SEND", SendLayout.SEND);
    layout.put("IBV_WR_SEND_WITH_IMM", SendLayout.SEND_WITH_IMMEDIATE);
    layout.put("IBV_WR_RDMA_READ", SendLayout.READ);
    layout.put("IBV_WR_ATOMIC_CMP_AND_SWP", SendLayout.COMPARE_AND_SWAP);
    layout.put("IBV_WR_ATOMIC_FETCH_AND_ADD", SendLayout.FETCH_AND_ADD);
    layout.put("IBV_WR_LOCAL_INV", SendLayout.LOCAL_INVALIDATE);
    layout.put("IBV_WR_BIND_MW", SendLayout.BIND_WINDOW);
    layout.put("IBV_SEND_FENCE", SendLayout.FENCE);
    layout.put("IBV_SEND_SIGNALED", SendLayout.SIGNALED);
    layout.put("IBV_SEND_SOLICITED", SendLayout.SOLICITED);
    layout.put("IBV_SEND_INLINE", SendLayout.INLINE);
    layout.put("sizeof ibv_recv_wr", ReceiveLayout.SIZE);
    layout.put("ibv_recv_wr.wr_id", ReceiveLayout.ID);
    layout.put("ibv_recv_wr.next", ReceiveLayout.NEXT);
    layout.put("ibv_recv_wr.sg_list", ReceiveLayout.SCATTER);
    layout.put("ibv_recv_wr.num_sge", ReceiveLayout.SCATTER_COUNT);
    layout.put("sizeof ibv_sge", ScatterLayout.SIZE);
    layout.put("ibv_sge.addr", ScatterLayout.ADDRESS);
    layout.put("ibv_sge.length", ScatterLayout.LENGTH);
    layout.put("ibv_sge.lkey", ScatterLayout.KEY);
    layout.put("sizeof ibv_wc", CompletionLayout.SIZE);
    layout.put("ibv_wc.wr_id", CompletionLayout.ID);
    layout.put("ibv_wc.status", CompletionLayout.STATUS);
    layout.put("ibv_wc.opcode", CompletionLayout.OPCODE);
    layout.put("ibv_wc.vendor_err", CompletionLayout.VENDOR_ERROR);
    layout.put("ibv_wc.byte_len", CompletionLayout.LENGTH);
    layout.put("ibv_wc.imm_data", CompletionLayout.IMMEDIATE);
    layout.put("ibv_wc.qp_num", CompletionLayout.QUEUE_PAIR);
    layout.put("ibv_wc.src_qp", CompletionLayout.SOURCE_QUEUE_PAIR);
    layout.put("ibv_wc.wc_flags", CompletionLayout.FLAGS);
    layout.put("sizeof ibv_grh", CompletionLayout.ROUTE_HEADER);
    layout.put("IBV_WC_SUCCESS", CompletionLayout.SUCCESS);
    layout.put("IBV_WC_LOC_PROT_ERR", CompletionLayout.LOCAL_PROTECTION_ERROR);
    layout.put("IBV_WC_WR_FLUSH_ERR", CompletionLayout.FLUSHED);
    layout.put("IBV_WC_REM_ACCESS_ERR", CompletionLayout.REMOTE_ACCESS_ERROR);
    layout.put("IBV_WC_RETRY_EXC_ERR", CompletionLayout.RETRIES_EXCEEDED);
    layout.put("IBV_WC_RNR_RETRY_EXC_ERR", CompletionLayout.RNR_RETRIES_EXCEEDED);
    layout.put("IBV_WC_SEND", CompletionLayout.SEND);
    layout.put("IBV_WC_RDMA_WRITE", CompletionLayout.WRITE);
    layout.put("IBV_WC_RDMA_READ", CompletionLayout.READ);
    layout.put("IBV_WC_COMP_SWAP", CompletionLayout.COMPARE_AND_SWAP);
    layout.put("IBV_WC_FETCH_ADD", CompletionLayout.FETCH_AND_ADD);
    layout.put("IBV_WC_BIND_MW", CompletionLayout.BIND_WINDOW);
    layout.put("IBV_WC_LOCAL_INV", CompletionLayout.LOCAL_INVALIDATE);
    layout.put("IBV_WC_RECV", CompletionLayout.RECEIVE);
    layout.put("IBV_WC_RECV_RDMA_WITH_IMM", CompletionLayout.RECEIVE_WRITE_WITH_IMMEDIATE);
    layout.put("IBV_WC_GRH", CompletionLayout.HAS_ROUTE_HEADER);
    layout.put("IBV_WC_WITH_IMM", CompletionLayout.HAS_IMMEDIATE);
    layout.put("IBV_ACCESS_LOCAL_WRITE", RegionLayout.LOCAL_WRITE);
    layout.put("IBV_ACCESS_REMOTE_WRITE", RegionLayout.REMOTE_WRITE);
    layout.put("IBV_ACCESS_REMOTE_READ", RegionLayout.REMOTE_READ);
    layout.put("IBV_ACCESS_REMOTE_ATOMIC", RegionLayout.REMOTE_ATOMIC);
    layout.put("IBV_ACCESS_MW_BIND", RegionLayout.BIND_WINDOWS);
    layout.put("sizeof ibv_qp_cap", QueuePairLayout.CAPACITY_SIZE);
    layout.put("ibv_qp_cap.max_send_wr", QueuePairLayout.MAX_SENDS);
    layout.put("ibv_qp_cap.max_recv_wr", QueuePairLayout.MAX_RECEIVES);
    layout.put("ibv_qp_cap.max_send_sge", QueuePairLayout.MAX_SEND_SCATTERS);
    layout.put("ibv_qp_cap.max_recv_sge", QueuePairLayout.MAX_RECEIVE_SCATTERS);
    layout.put("ibv_qp_cap.max_inline_data", QueuePairLayout.MAX_INLINE);
    layout.put("sizeof ibv_qp_attr", QueuePairLayout.SIZE);
    layout.put("ibv_qp_attr.qp_state", QueuePairLayout.STATE);
    layout.put("ibv_qp_attr.path_mtu", QueuePairLayout.PATH_MTU);
    layout.put("ibv_qp_attr.dest_qp_num", QueuePairLayout.PEER_NUMBER);
    layout.put("ibv_qp_attr.qp_access_flags", QueuePairLayout.ACCESS);
    layout.put("ibv_qp_attr.cap", QueuePairLayout.CAPACITY);
    layout.put("ibv_qp_attr.pkey_index", QueuePairLayout.PARTITION);
    layout.put("ibv_qp_attr.max_rd_atomic", QueuePairLayout.MAX_READS);
    layout.put("ibv_qp_attr.max_dest_rd_atomic", QueuePairLayout.MAX_PEER_READS);
    layout.put("ibv_qp_attr.min_rnr_timer", QueuePairLayout.MIN_RNR_TIMER);
    layout.put("ibv_qp_attr.port_num", QueuePairLayout.PORT);
    layout.put("ibv_qp_attr.timeout", QueuePairLayout.ACK_TIMEOUT);
    layout.put("ibv_qp_attr.retry_cnt", QueuePairLayout.RETRIES);
    layout.put("ibv_qp_attr.rnr_retry", QueuePairLayout.RNR_RETRIES);
    layout.put("IBV_QPS_RTS", QueuePairLayout.READY_TO_SEND);
    layout.put("IBV_QPS_ERR", QueuePairLayout.ERROR);
    layout.put("sizeof ibv_device_attr", DeviceLayout.SIZE);
    layout.put("ibv_device_attr.max_mr_size", DeviceLayout.MAX_REGION_SIZE);
    layout.put("ibv_device_attr.max_qp", DeviceLayout.MAX_QUEUE_PAIRS);
    layout.put("ibv_device_attr.max_qp_wr", DeviceLayout.MAX_REQUESTS);
    layout.put("ibv_device_attr.device_cap_flags", DeviceLayout.CAPABILITIES);
    layout.put("ibv_device_attr.max_sge", DeviceLayout.MAX_SCATTERS);
    layout.put("ibv_device_attr.max_sge_rd", DeviceLayout.MAX_READ_SCATTERS);
    layout.put("ibv_device_attr.max_cqe", DeviceLayout.MAX_COMPLETIONS);
    layout.put("ibv_device_attr.max_qp_rd_atom", DeviceLayout.MAX_PEER_READS);
    layout.put("ibv_device_attr.max_qp_init_rd_atom", DeviceLayout.MAX_READS);
    layout.put("ibv_device_attr.atomic_cap", DeviceLayout.ATOMICS);
    layout.put("ibv_device_attr.max_mw", DeviceLayout.MAX_WINDOWS);
    layout.put("ibv_device_attr.max_ah", DeviceLayout.MAX_HANDLES);
    layout.put("ibv_device_attr.phys_port_cnt", DeviceLayout.PORTS);
    layout.put("IBV_ATOMIC_NONE", DeviceLayout.NO_ATOMICS);
    layout.put("IBV_ATOMIC_HCA", DeviceLayout.ATOMICS_OF_DEVICE);
    layout.put("IBV_ATOMIC_GLOB", DeviceLayout.ATOMICS_OF_HOST);
    layout.put("IBV_DEVICE_MEM_MGT_EXTENSIONS", DeviceLayout.INVALIDATION);
    layout.put("IBV_DEVICE_MEM_WINDOW_TYPE_2A", DeviceLayout.WINDOWS_2A);
    layout.put("IBV_DEVICE_MEM_WINDOW_TYPE_2B", DeviceLayout.WINDOWS_2B);
    layout.put("sizeof ibv_port_attr", PortLayout.SIZE);
    layout.put("ibv_port_attr.state", PortLayout.STATE);
    layout.put("ibv_port_attr.active_mtu", PortLayout.ACTIVE_MTU);
    layout.put("ibv_port_attr.gid_tbl_len", PortLayout.GIDS);
    layout.put("ibv_port_attr.max_msg_sz", PortLayout.MAX_MESSAGE);
    layout.put("ibv_port_attr.lid", PortLayout.LID);
    layout.put("ibv_port_attr.link_layer", PortLayout.LINK_LAYER);
    layout.put("IBV_PORT_ACTIVE", PortLayout.ACTIVE);
    layout.put("IBV_LINK_LAYER_INFINIBAND", PortLayout.INFINIBAND);
    layout.put("IBV_LINK_LAYER_ETHERNET", PortLayout.ETHERNET);
    layout.put("sizeof ibv_gid_entry", PortLayout.GID_SIZE);
    layout.put("ibv_gid_entry.gid", PortLayout.GID);
    layout.put("ibv_gid_entry.gid_type", PortLayout.GID_TYPE);
    layout.put("IBV_GID_TYPE_ROCE_V2", PortLayout.ROCE_V2);
    layout.put("sizeof ringfetch_event", EventLayout.SIZE);
    layout.put("ringfetch_event.type", EventLayout.TYPE);
    layout.put("ringfetch_event.status", EventLayout.STATUS);
    layout.put("ringfetch_event.id", EventLayout.ID);
    layout.put("ringfetch_event.listen_id", EventLayout.LISTEN_ID);
    layout.put("ringfetch_event.qp_number", EventLayout.PEER_NUMBER);
    layout.put("ringfetch_event.responder_resources", EventLayout.RESPONDER_DEPTH);
    layout.put("ringfetch_event.initiator_depth", EventLayout.INITIATOR_DEPTH);
    layout.put("ringfetch_event.retry_count", EventLayout.RETRIES);
    layout.put("ringfetch_event.rnr_retry_count", EventLayout.RNR_RETRIES);
    layout.put("ringfetch_event.private_length", EventLayout.PRIVATE_LENGTH);
    layout.put("ringfetch_event.private_data", EventLayout.PRIVATE_DATA);
    layout.put("RDMA_CM_EVENT_ADDR_RESOLVED", EventLayout.ADDRESS_RESOLVED);
    layout.put("RDMA_CM_EVENT_ADDR_ERROR", EventLayout.ADDRESS_ERROR);
    layout.put("RDMA_CM_EVENT_ROUTE_RESOLVED", EventLayout.ROUTE_RESOLVED);
    layout.put("RDMA_CM_EVENT_ROUTE_ERROR", EventLayout.ROUTE_ERROR);
    layout.put("RDMA_CM_EVENT_CONNECT_REQUEST", EventLayout.CONNECT_REQUEST);
    layout.put("RDMA_CM_EVENT_CONNECT_ERROR", EventLayout.CONNECT_ERROR);
    layout.put("RDMA_CM_EVENT_UNREACHABLE", EventLayout.UNREACHABLE);
    layout.put("RDMA_CM_EVENT_REJECTED", EventLayout.REJECTED);
    layout.put("RDMA_CM_EVENT_ESTABLISHED", EventLayout.ESTABLISHED);
    layout.put("RDMA_CM_EVENT_DISCONNECTED", EventLayout.DISCONNECTED);
    layout.put("RDMA_CM_EVENT_DEVICE_REMOVAL", EventLayout.DEVICE_REMOVED);
    layout.put("RDMA_CM_EVENT_ADDR_CHANGE", EventLayout.ADDRESS_CHANGED);
    layout.put("RDMA_CM_EVENT_TIMEWAIT_EXIT", EventLayout.TIMEWAIT_EXIT);
    layout.put("sizeof ringfetch_device_event", DeviceEventLayout.SIZE);
    layout.put("ringfetch_device_event.element", DeviceEventLayout.ELEMENT);
    layout.put("ringfetch_device_event.type", DeviceEventLayout.TYPE);
    layout.put("ringfetch_device_event.kind", DeviceEventLayout.KIND);
    layout.put("ELEMENT_DEVICE", DeviceEventLayout.DEVICE);
    layout.put("ELEMENT_PORT", DeviceEventLayout.PORT);
    layout.put("ELEMENT_QUEUE_PAIR", DeviceEventLayout.QUEUE_PAIR);
    layout.put("ELEMENT_COMPLETION_QUEUE", DeviceEventLayout.COMPLETION_QUEUE);
    layout.put("ELEMENT_OTHER", DeviceEventLayout.OTHER);
    layout.put("sizeof pollfd", PollLayout.SIZE);
    layout.put("pollfd.fd", PollLayout.DESCRIPTOR);
    layout.put("pollfd.events", PollLayout.WANTED);
    layout.put("pollfd.revents", PollLayout.READY);
    layout.put("POLLIN", PollLayout.READABLE);
    layout.put("sizeof sockaddr_in6", AddressLayout.SIZE);
    layout.put("AF_INET", AddressLayout.INET);
    layout.put("AF_INET6", AddressLayout.INET6);
    layout.put("sockaddr_in.sin_port", AddressLayout.PORT);
    layout.put("sockaddr_in.sin_addr", AddressLayout.INET_ADDRESS);
    layout.put("sockaddr_in6.sin6_addr", AddressLayout.INET6_ADDRESS);
    layout.put("sockaddr_in6.sin6_scope_id", AddressLayout.INET6_SCOPE);
    return layout;
  }

  /** How many numbers the library knows. */
  public static native int count();

  /** A number of the library's by its name in C, or -1. */
  public static native long value(String name);
}
