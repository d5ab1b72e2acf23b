/* Java exceptions for errors, and texts for the error codes that Java gets as numbers. */
#include "native.h"

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <string.h>

void throw_io(JNIEnv *env, const char *message) {
  if ((*env)->ExceptionCheck(env)) {
    return; /* the first error is the one to report */
  }
  jclass type = (*env)->FindClass(env, "java/io/IOException");
  if (type != NULL) {
    (*env)->ThrowNew(env, type, message);
  }
}

void throw_errno(JNIEnv *env, const char *function, int error) {
  char text[128];
  char message[256];
  snprintf(message, sizeof message, "%s: %s (errno %d)", function,
           strerror_r(error, text, sizeof text), error);
  throw_io(env, message);
}

bool in_range(JNIEnv *env, const char *name, int64_t value, int64_t most) {
  if (value >= 0 && value <= most) {
    return true;
  }
  if (!(*env)->ExceptionCheck(env)) {
    char message[128];
    snprintf(message, sizeof message, "%s=%lld, not of 0 to %lld", name, (long long)value,
             (long long)most);
    jclass type = (*env)->FindClass(env, "java/lang/IllegalArgumentException");
    if (type != NULL) {
      (*env)->ThrowNew(env, type, message);
    }
  }
  return false;
}

RINGFETCH(jstring, Errors, errnoText)(JAVA, jint error) {
  char text[128];
  return (*env)->NewStringUTF(env, strerror_r(error < 0 ? -error : error, text, sizeof text));
}

RINGFETCH(jstring, Errors, completionText)(JAVA, jint status) {
  return (*env)->NewStringUTF(env, ibv_wc_status_str((enum ibv_wc_status)status));
}

RINGFETCH(jstring, Errors, connectionEventText)(JAVA, jint type) {
  return (*env)->NewStringUTF(env, rdma_event_str((enum rdma_cm_event_type)type));
}

RINGFETCH(jstring, Errors, deviceEventText)(JAVA, jint type) {
  return (*env)->NewStringUTF(env, ibv_event_type_str((enum ibv_event_type)type));
}
