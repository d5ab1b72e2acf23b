/* File descriptors: waiting for several at once, and an event that wakes a waiting thread. */
#include "native.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define NANOSECONDS 1000000000LL

static int64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * NANOSECONDS + now.tv_nsec;
}

/* ppoll(2) that goes on after a signal until its own deadline. Returns as ppoll, or -errno. */
static int poll_until(struct pollfd *fds, nfds_t count, int64_t timeout_ns) {
  int64_t start = timeout_ns > 0 ? now_ns() : 0;
  int64_t deadline = timeout_ns > INT64_MAX - start ? INT64_MAX : start + timeout_ns;
  int64_t left = timeout_ns;
  for (;;) {
    struct timespec wait = {.tv_sec = left / NANOSECONDS, .tv_nsec = left % NANOSECONDS};
    int ready = ppoll(fds, count, timeout_ns < 0 ? NULL : &wait, NULL);
    if (ready >= 0) {
      return ready;
    }
    if (errno != EINTR) {
      return -errno;
    }
    if (timeout_ns > 0) {
      left = deadline - now_ns();
      if (left < 0) {
        left = 0; /* a last look */
      }
    }
  }
}

int wait_readable(int fd, int timeout_ms) {
  struct pollfd wait = {.fd = fd, .events = POLLIN};
  int ready = poll_until(&wait, 1, timeout_ms < 0 ? -1 : timeout_ms * (NANOSECONDS / 1000));
  return ready > 0 ? 1 : ready;
}

int set_nonblocking(int fd) {
  int flags = fcntl(fd, F_GETFL);
  return flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0 ? -errno : 0;
}

RINGFETCH(jint, FileDescriptors, poll)(JAVA, jlong fds, jint count, jlong timeoutNs) {
  return poll_until(POINTER(struct pollfd, fds), (nfds_t)count, timeoutNs);
}

RINGFETCH(jint, FileDescriptors, createEvent)(JAVA) {
  int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) {
    throw_errno(env, "eventfd", errno);
  }
  return fd;
}

RINGFETCH(jint, FileDescriptors, signal)(JAVA, jint fd) {
  /* A full counter is still readable: the sleeper wakes all the same. */
  return eventfd_write(fd, 1) == 0 || errno == EAGAIN ? 0 : -errno;
}

RINGFETCH(jint, FileDescriptors, drain)(JAVA, jint fd) {
  eventfd_t count;
  return eventfd_read(fd, &count) == 0 || errno == EAGAIN ? 0 : -errno;
}

RINGFETCH(jint, FileDescriptors, close)(JAVA, jint fd) {
  return close(fd) == 0 ? 0 : -errno;
}
