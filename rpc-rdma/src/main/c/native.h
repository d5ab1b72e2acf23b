/*
 * Conventions that all files of the library share: names, handles and errors on the way to Java.
 *
 * Objects of libibverbs and librdmacm are raw pointers in a Java long; memory is an address in a
 * long. Two conventions for errors: a native that sets something up throws java.io.IOException; a
 * native of the data path returns 0 or more, or a negative errno, and never throws.
 */
#ifndef RINGFETCH_NATIVE_H
#define RINGFETCH_NATIVE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <jni.h>
#include <stdbool.h>
#include <stdint.h>

#define UNUSED __attribute__((unused))

/* The two parameters that every native begins with. */
#define JAVA JNIEnv *env UNUSED, jclass self UNUSED

/* A native of DiSNI's NativeDispatcher; Java names them with a leading underscore. */
#define DISNI(result, name) \
  JNIEXPORT result JNICALL Java_com_ibm_disni_verbs_impl_NativeDispatcher__1##name

/* A native of one of our own classes. */
#define RINGFETCH(result, type, name) \
  JNIEXPORT result JNICALL Java_dev_ringfetch_rdma_natives_##type##_##name

#define POINTER(type, handle) ((type *)(intptr_t)(handle))
#define HANDLE(pointer) ((jlong)(intptr_t)(pointer))

/* Throws IOException: the function's name, what strerror says, and the errno. */
void throw_errno(JNIEnv *env, const char *function, int error);

/*
 * False after an IllegalArgumentException was thrown: the value is not one of 0 to most, and would be
 * cut where the library or the wire has few bits for it.
 */
bool in_range(JNIEnv *env, const char *name, int64_t value, int64_t most);

/* Throws IOException with a text. */
void throw_io(JNIEnv *env, const char *message);

/*
 * The errno behind a result, 0 for success. ibv_ functions return it; rdma_ functions return -1 and
 * set it; a few functions of either library follow the other's convention.
 */
static inline int errno_of(int result) {
  return result == 0 ? 0 : (result > 0 ? result : (errno != 0 ? errno : EIO));
}

/* Throws if the result is an error. */
static inline void check(JNIEnv *env, const char *function, int result) {
  if (result != 0) {
    throw_errno(env, function, errno_of(result));
  }
}

/* A created object as a handle; throws if there is none. */
static inline jlong created(JNIEnv *env, const char *function, void *object) {
  if (object == NULL) {
    throw_errno(env, function, errno != 0 ? errno : EIO);
    return -1;
  }
  return HANDLE(object);
}

/*
 * Waits until a descriptor is readable. Goes on after a signal.
 *
 * timeout_ms: 0 looks only, negative waits without end. Returns 1, 0 on timeout, or -errno.
 */
int wait_readable(int fd, int timeout_ms);

/* Makes reads of a descriptor return at once. Returns 0 or -errno. */
int set_nonblocking(int fd);

#endif
