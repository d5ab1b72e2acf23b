/* Access to registered memory: changes of it, and windows. */
#include "native.h"

#include <infiniband/verbs.h>

RINGFETCH(jlong, Regions, address)(JAVA, jobject buffer) {
  return HANDLE((*env)->GetDirectBufferAddress(env, buffer));
}

/* ibv_rereg_mr has return codes of its own, and errno beside them. */
RINGFETCH(void, Regions, changeAccess)(JAVA, jlong mr, jint access) {
  if (ibv_rereg_mr(POINTER(struct ibv_mr, mr), IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
                   access) != 0) {
    throw_errno(env, "ibv_rereg_mr", errno != 0 ? errno : EIO);
  }
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
