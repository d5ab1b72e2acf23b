#include "region.h"

#include "native.h"

#include <stdio.h>
#include <sys/resource.h>

struct ibv_mr *register_memory(JNIEnv *env, struct ibv_pd *pd, void *address, size_t length,
                               int access) {
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

RINGFETCH(jlong, Regions, address)(JAVA, jobject buffer) {
  return HANDLE((*env)->GetDirectBufferAddress(env, buffer));
}

RINGFETCH(jlong, Regions, allocateDomain)(JAVA, jlong context) {
  return created(env, "ibv_alloc_pd", ibv_alloc_pd(POINTER(struct ibv_context, context)));
}

RINGFETCH(void, Regions, deallocateDomain)(JAVA, jlong pd) {
  check(env, "ibv_dealloc_pd", ibv_dealloc_pd(POINTER(struct ibv_pd, pd)));
}

RINGFETCH(jlong, Regions, register)(JAVA, jlong pd, jlong address, jlong length, jint access) {
  struct ibv_mr *mr = register_memory(env, POINTER(struct ibv_pd, pd), POINTER(void, address),
                                      (size_t)length, access);
  return mr == NULL ? -1 : HANDLE(mr);
}

RINGFETCH(jint, Regions, localKey)(JAVA, jlong mr) {
  return (jint)POINTER(struct ibv_mr, mr)->lkey;
}

RINGFETCH(jint, Regions, remoteKey)(JAVA, jlong mr) {
  return (jint)POINTER(struct ibv_mr, mr)->rkey;
}

/* ibv_rereg_mr has return codes of its own, and errno beside them. */
RINGFETCH(void, Regions, changeAccess)(JAVA, jlong mr, jint access) {
  if (ibv_rereg_mr(POINTER(struct ibv_mr, mr), IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
                   access) != 0) {
    throw_errno(env, "ibv_rereg_mr", errno != 0 ? errno : EIO);
  }
}

RINGFETCH(void, Regions, deregister)(JAVA, jlong mr) {
  check(env, "ibv_dereg_mr", ibv_dereg_mr(POINTER(struct ibv_mr, mr)));
}

RINGFETCH(jlong, Regions, allocateWindow)(JAVA, jlong pd) {
  return created(env, "ibv_alloc_mw", ibv_alloc_mw(POINTER(struct ibv_pd, pd), IBV_MW_TYPE_2));
}

RINGFETCH(jint, Regions, windowKey)(JAVA, jlong mw) {
  return (jint)POINTER(struct ibv_mw, mw)->rkey;
}

RINGFETCH(void, Regions, freeWindow)(JAVA, jlong mw) {
  check(env, "ibv_dealloc_mw", ibv_dealloc_mw(POINTER(struct ibv_mw, mw)));
}
