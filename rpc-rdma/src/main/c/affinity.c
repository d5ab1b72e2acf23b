/* DiSNI's NativeAffinity: on which of the first 64 processors the calling thread may run. */
#include "native.h"

#include <sched.h>
#include <string.h>

#define PROCESSORS 64

JNIEXPORT void JNICALL Java_com_ibm_disni_util_NativeAffinity__1setAffinity(JAVA, jlong mask) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < PROCESSORS; i++) {
    if (((uint64_t)mask >> i) & 1) {
      CPU_SET(i, &set);
    }
  }
  /* Not every kernel refuses an empty set. */
  int error = mask == 0 ? EINVAL : sched_setaffinity(0, sizeof set, &set) != 0 ? errno : 0;
  if (error != 0) {
    /* Declared without IOException: what fails here is the mask. */
    char text[128];
    const char *message = strerror_r(error, text, sizeof text);
    jclass type = (*env)->FindClass(env, "java/lang/IllegalArgumentException");
    if (type != NULL) {
      (*env)->ThrowNew(env, type, message);
    }
  }
}

JNIEXPORT jlong JNICALL Java_com_ibm_disni_util_NativeAffinity__1getAffinity(JAVA) {
  cpu_set_t set;
  CPU_ZERO(&set);
  uint64_t mask = 0;
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int i = 0; i < PROCESSORS; i++) {
      if (CPU_ISSET(i, &set)) {
        mask |= (uint64_t)1 << i;
      }
    }
  }
  return (jlong)mask;
}
