/* DiSNI's NativeDispatcher: resources and work over libibverbs. */
#include "completion.h"
#include "native.h"

#include <infiniband/verbs.h>
#include <stdio.h>
#include <sys/resource.h>

DISNI(jlong, allocPd)(JAVA, jlong context) {
  return created(env, "ibv_alloc_pd", ibv_alloc_pd(POINTER(struct ibv_context, context)));
}

DISNI(jint, deallocPd)(JAVA, jlong pd) {
  return -errno_of(ibv_dealloc_pd(POINTER(struct ibv_pd, pd)));
}

DISNI(jint, getPdHandle)(JAVA, jlong pd) { return (jint)POINTER(struct ibv_pd, pd)->handle; }

/* Its descriptor is non-blocking. */
DISNI(jlong, createCompChannel)(JAVA, jlong context) {
  struct ibv_comp_channel *channel =
      ibv_create_comp_channel(POINTER(struct ibv_context, context));
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

DISNI(jint, destroyCompChannel)(JAVA, jlong channel) {
  return -errno_of(ibv_destroy_comp_channel(POINTER(struct ibv_comp_channel, channel)));
}

DISNI(jlong, createCQ)(JAVA, jlong context, jlong channel, jint entries, jint vector) {
  return created(env, "ibv_create_cq",
                 ibv_create_cq(POINTER(struct ibv_context, context), entries, NULL,
                               POINTER(struct ibv_comp_channel, channel), vector));
}

DISNI(jint, destroyCQ)(JAVA, jlong cq) {
  return -errno_of(ibv_destroy_cq(POINTER(struct ibv_cq, cq)));
}

/* Registers memory, or throws and returns NULL. */
static struct ibv_mr *register_memory(JNIEnv *env, struct ibv_pd *pd, void *address,
                                      size_t length, int access) {
  struct ibv_mr *mr = ibv_reg_mr(pd, address, length, access);
  if (mr == NULL) {
    /* Nearly always the limit on locked memory, so it is named. */
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    int error = errno;
    char function[128];
    getrlimit(RLIMIT_MEMLOCK, &limit);
    if (error == ENOMEM && limit.rlim_cur != RLIM_INFINITY) {
      snprintf(function, sizeof function, "ibv_reg_mr of %zu bytes, RLIMIT_MEMLOCK %llu", length,
               (unsigned long long)limit.rlim_cur);
    } else {
      snprintf(function, sizeof function, "ibv_reg_mr of %zu bytes", length);
    }
    throw_errno(env, function, error);
  }
  return mr;
}

/* Writes lkey, rkey and handle. */
DISNI(jlong, regMr)(JAVA, jlong pd, jlong address, jint length, jint access, jlong lkey,
                    jlong rkey, jlong handle) {
  struct ibv_mr *mr = register_memory(env, POINTER(struct ibv_pd, pd), POINTER(void, address),
                                      (size_t)(uint32_t)length, access);
  if (mr == NULL) {
    return -1;
  }
  *POINTER(uint32_t, lkey) = mr->lkey;
  *POINTER(uint32_t, rkey) = mr->rkey;
  *POINTER(uint32_t, handle) = mr->handle;
  return HANDLE(mr);
}

DISNI(void, deregMr)(JAVA, jlong mr) {
  check(env, "ibv_dereg_mr", ibv_dereg_mr(POINTER(struct ibv_mr, mr)));
}

/* Reliable connections' paging on demand as a bit set, or -1 where the device has none. */
DISNI(jint, queryOdpSupport)(JAVA, jlong context) {
  struct ibv_device_attr_ex attributes;
  if (ibv_query_device_ex(POINTER(struct ibv_context, context), NULL, &attributes) != 0 ||
      (attributes.odp_caps.general_caps & IBV_ODP_SUPPORT) == 0) {
    return -1;
  }
  return (jint)attributes.odp_caps.per_transport_caps.rc_odp_caps;
}

DISNI(jint, expPrefetchMr)(JAVA, jlong handle, jlong address, jint length) {
  struct ibv_mr *mr = POINTER(struct ibv_mr, handle);
  struct ibv_sge range = {
      .addr = (uint64_t)address, .length = (uint32_t)length, .lkey = mr->lkey};
  check(env, "ibv_advise_mr",
        ibv_advise_mr(mr->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &range, 1));
  return 0;
}

DISNI(void, postSend)(JAVA, jlong qp, jlong first) {
  struct ibv_send_wr *bad;
  check(env, "ibv_post_send",
        ibv_post_send(POINTER(struct ibv_qp, qp), POINTER(struct ibv_send_wr, first), &bad));
}

DISNI(void, postRecv)(JAVA, jlong qp, jlong first) {
  struct ibv_recv_wr *bad;
  check(env, "ibv_post_recv",
        ibv_post_recv(POINTER(struct ibv_qp, qp), POINTER(struct ibv_recv_wr, first), &bad));
}

DISNI(jint, pollCQ)(JAVA, jlong cq, jint limit, jlong out) {
  return ibv_poll_cq(POINTER(struct ibv_cq, cq), limit, POINTER(struct ibv_wc, out));
}

DISNI(jint, reqNotifyCQ)(JAVA, jlong cq, jint solicitedOnly) {
  return -errno_of(ibv_req_notify_cq(POINTER(struct ibv_cq, cq), solicitedOnly));
}

/* 0 for an event, -1 for timeout. Which queue it was is lost: one queue per channel. */
DISNI(jint, getCqEvent)(JAVA, jlong handle, jint timeoutMs) {
  struct ibv_comp_channel *channel = POINTER(struct ibv_comp_channel, handle);
  jlong cq = next_completion_event(channel);
  if (cq == 0) {
    int ready = wait_readable(channel->fd, timeoutMs);
    cq = ready > 0 ? next_completion_event(channel) : ready;
  }
  if (cq < 0) {
    throw_errno(env, "ibv_get_cq_event", (int)-cq);
  }
  return cq > 0 ? 0 : -1;
}

DISNI(jint, ackCqEvent)(JAVA, jlong cq, jint events) {
  ibv_ack_cq_events(POINTER(struct ibv_cq, cq), (unsigned)events);
  return 0;
}

DISNI(jint, getQpNum)(JAVA, jlong qp) { return (jint)POINTER(struct ibv_qp, qp)->qp_num; }

DISNI(jint, getContextFd)(JAVA, jlong context) {
  return POINTER(struct ibv_context, context)->cmd_fd;
}

DISNI(jint, getContextNumCompVectors)(JAVA, jlong context) {
  return POINTER(struct ibv_context, context)->num_comp_vectors;
}
