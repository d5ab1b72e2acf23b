/* Events of the connection manager: taken, copied and acknowledged in one step. */
#ifndef RINGFETCH_EVENT_H
#define RINGFETCH_EVENT_H

#include <jni.h>
#include <rdma/rdma_cma.h>
#include <stdint.h>

/* An event as Java reads it: EventLayout there has the same offsets. */
struct ringfetch_event {
  int32_t type;                /* rdma_cm_event_type */
  int32_t status;              /* -errno; for a rejection the peer's or the CM's reason code */
  int64_t id;                  /* rdma_cm_id; for a connect request the new one */
  int64_t listen_id;           /* for a connect request, otherwise 0 */
  uint32_t qp_number;          /* the peer's */
  int32_t responder_resources; /* READs and atomics that the peer may have outstanding to here */
  int32_t initiator_depth;     /* READs and atomics that may be outstanding to the peer */
  int32_t retry_count;
  int32_t rnr_retry_count;
  int32_t private_length;      /* of private_data; the transport may have padded it with zeros */
  uint8_t private_data[256];
};

/*
 * Takes the channel's next event, whose descriptor is non-blocking. Acknowledged already, so that
 * destroying its id does not wait.
 *
 * Returns 1, 0 on timeout, or -errno.
 */
int take_event(struct rdma_event_channel *channel, struct ringfetch_event *out, int timeout_ms);

#endif
