#include "event.h"

#include "native.h"

#include <string.h>
#include <time.h>

static void copy_event(const struct rdma_cm_event *event, struct ringfetch_event *out) {
  memset(out, 0, sizeof *out);
  out->type = (int32_t)event->event;
  out->status = event->status;
  out->id = HANDLE(event->id);
  out->listen_id = HANDLE(event->listen_id);
  if (event->id != NULL && event->id->ps == RDMA_PS_UDP) {
    return; /* its parameters are others */
  }
  const struct rdma_conn_param *parameters = &event->param.conn;
  out->qp_number = parameters->qp_num;
  out->responder_resources = parameters->responder_resources;
  out->initiator_depth = parameters->initiator_depth;
  out->retry_count = parameters->retry_count;
  out->rnr_retry_count = parameters->rnr_retry_count;
  if (parameters->private_data != NULL) {
    out->private_length = parameters->private_data_len;
    memcpy(out->private_data, parameters->private_data, parameters->private_data_len);
  }
}

static int64_t now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

int take_event(struct rdma_event_channel *channel, struct ringfetch_event *out, int timeout_ms) {
  int64_t deadline = timeout_ms > 0 ? now_ms() + timeout_ms : 0;
  for (;;) {
    struct rdma_cm_event *event;
    if (rdma_get_cm_event(channel, &event) == 0) {
      copy_event(event, out);
      rdma_ack_cm_event(event);
      return 1;
    }
    if (errno != EAGAIN && errno != EINTR) {
      return -errno;
    }
    /* The library may swallow what made the descriptor readable, so wait anew until the deadline. */
    int64_t left = timeout_ms > 0 ? deadline - now_ms() : timeout_ms;
    if (timeout_ms >= 0 && left <= 0) {
      return 0;
    }
    int ready = wait_readable(channel->fd, (int)left);
    if (ready <= 0) {
      return ready;
    }
  }
}

RINGFETCH(jint, ConnectionManager, nextEvent)(JAVA, jlong channel, jlong out, jint timeoutMs) {
  return take_event(POINTER(struct rdma_event_channel, channel),
                    POINTER(struct ringfetch_event, out), timeoutMs);
}
