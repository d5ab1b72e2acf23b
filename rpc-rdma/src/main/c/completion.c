#include "completion.h"

#include "native.h"

jlong next_completion_event(struct ibv_comp_channel *channel) {
  struct ibv_cq *cq;
  void *context;
  while (ibv_get_cq_event(channel, &cq, &context) != 0) {
    if (errno == EAGAIN) {
      return 0;
    }
    if (errno != EINTR) {
      return -(errno != 0 ? errno : EIO);
    }
  }
  return HANDLE(cq);
}

RINGFETCH(jint, CompletionQueues, channelDescriptor)(JAVA, jlong channel) {
  return POINTER(struct ibv_comp_channel, channel)->fd;
}

RINGFETCH(jint, CompletionQueues, poll)(JAVA, jlong cq, jint limit, jlong out) {
  int count = ibv_poll_cq(POINTER(struct ibv_cq, cq), limit, POINTER(struct ibv_wc, out));
  return count < 0 ? -EIO : count;
}

RINGFETCH(jint, CompletionQueues, arm)(JAVA, jlong cq, jboolean solicitedOnly) {
  return -errno_of(ibv_req_notify_cq(POINTER(struct ibv_cq, cq), solicitedOnly));
}

RINGFETCH(jlong, CompletionQueues, nextEvent)(JAVA, jlong channel) {
  return next_completion_event(POINTER(struct ibv_comp_channel, channel));
}

RINGFETCH(void, CompletionQueues, acknowledge)(JAVA, jlong cq, jint events) {
  ibv_ack_cq_events(POINTER(struct ibv_cq, cq), (unsigned)events);
}
