#include "completion.h"

#include "native.h"

jlong create_completion_channel(JNIEnv *env, struct ibv_context *context) {
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  if (channel != NULL) {
    int result = set_nonblocking(channel->fd);
    if (result != 0) {
      ibv_destroy_comp_channel(channel);
      throw_errno(env, "fcntl", -result);
      return -1;
    }
  }
  return created(env, "ibv_create_comp_channel", channel);
}

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

RINGFETCH(jlong, CompletionQueues, createChannel)(JAVA, jlong context) {
  return create_completion_channel(env, POINTER(struct ibv_context, context));
}

RINGFETCH(jint, CompletionQueues, channelDescriptor)(JAVA, jlong channel) {
  return POINTER(struct ibv_comp_channel, channel)->fd;
}

RINGFETCH(void, CompletionQueues, destroyChannel)(JAVA, jlong channel) {
  check(env, "ibv_destroy_comp_channel",
        ibv_destroy_comp_channel(POINTER(struct ibv_comp_channel, channel)));
}

RINGFETCH(jlong, CompletionQueues, create)(JAVA, jlong context, jlong channel, jint entries,
                                           jint vector) {
  return created(env, "ibv_create_cq",
                 ibv_create_cq(POINTER(struct ibv_context, context), entries, NULL,
                               POINTER(struct ibv_comp_channel, channel), vector));
}

RINGFETCH(void, CompletionQueues, destroy)(JAVA, jlong cq) {
  check(env, "ibv_destroy_cq", ibv_destroy_cq(POINTER(struct ibv_cq, cq)));
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
