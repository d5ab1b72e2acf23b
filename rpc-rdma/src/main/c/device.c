/* Devices: their names, capabilities and events. */
#include "native.h"
#include "device.h"

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <string.h>
#include <unistd.h>

/* All devices, to be freed with ibv_free_device_list; throws and returns NULL without a list. */
static struct ibv_device **list_devices(JNIEnv *env, int *count) {
  struct ibv_device **devices = ibv_get_device_list(count);
  if (devices == NULL) {
    throw_errno(env,
                errno == ENOSYS ? "the kernel has no RDMA: ibv_get_device_list"
                                : "ibv_get_device_list",
                errno);
  }
  return devices;
}

RINGFETCH(jobjectArray, Devices, names)(JAVA) {
  int count = 0;
  struct ibv_device **devices = list_devices(env, &count);
  if (devices == NULL) {
    return NULL;
  }
  jclass string = (*env)->FindClass(env, "java/lang/String");
  jobjectArray names = string == NULL ? NULL : (*env)->NewObjectArray(env, count, string, NULL);
  for (int i = 0; names != NULL && i < count; i++) {
    jstring name = (*env)->NewStringUTF(env, ibv_get_device_name(devices[i]));
    if (name == NULL) {
      names = NULL;
    } else {
      (*env)->SetObjectArrayElement(env, names, i, name);
      (*env)->DeleteLocalRef(env, name);
    }
  }
  ibv_free_device_list(devices);
  return names;
}

RINGFETCH(jlong, Devices, open)(JAVA, jstring wanted) {
  int count = 0;
  struct ibv_device **devices = list_devices(env, &count);
  if (devices == NULL) {
    return -1;
  }
  jlong context = -1;
  const char *name = (*env)->GetStringUTFChars(env, wanted, NULL);
  if (name != NULL) {
    int found = 0;
    while (found < count && strcmp(ibv_get_device_name(devices[found]), name) != 0) {
      found++;
    }
    if (found == count) {
      throw_errno(env, "ibv_open_device", ENODEV);
    } else {
      context = created(env, "ibv_open_device", ibv_open_device(devices[found]));
    }
    (*env)->ReleaseStringUTFChars(env, wanted, name);
  }
  ibv_free_device_list(devices);
  return context;
}

RINGFETCH(void, Devices, close)(JAVA, jlong context) {
  check(env, "ibv_close_device", ibv_close_device(POINTER(struct ibv_context, context)));
}

/*
 * Replaces the context's descriptors by others, so that the kernel no longer sees the process as a
 * user of the device. A later close of these numbers closes no foreign descriptor, and a later
 * command on them fails.
 */
RINGFETCH(void, Devices, abandon)(JAVA, jlong handle) {
  struct ibv_context *context = POINTER(struct ibv_context, handle);
  int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) {
    throw_errno(env, "open", errno);
    return;
  }
  if (dup3(nothing, context->cmd_fd, O_CLOEXEC) < 0 ||
      dup3(nothing, context->async_fd, O_CLOEXEC) < 0) {
    throw_errno(env, "dup3", errno);
  }
  close(nothing);
}

RINGFETCH(jstring, Devices, name)(JAVA, jlong context) {
  return (*env)->NewStringUTF(
      env, ibv_get_device_name(POINTER(struct ibv_context, context)->device));
}

RINGFETCH(void, Devices, query)(JAVA, jlong context, jlong out) {
  check(env, "ibv_query_device",
        ibv_query_device(POINTER(struct ibv_context, context),
                         POINTER(struct ibv_device_attr, out)));
}

RINGFETCH(void, Devices, queryPort)(JAVA, jlong context, jint port, jlong out) {
  check(env, "ibv_query_port",
        ibv_query_port(POINTER(struct ibv_context, context), (uint8_t)port,
                       POINTER(struct ibv_port_attr, out)));
}

RINGFETCH(void, Devices, queryGid)(JAVA, jlong context, jint port, jint index, jlong out) {
  check(env, "ibv_query_gid_ex",
        ibv_query_gid_ex(POINTER(struct ibv_context, context), (uint32_t)port, (uint32_t)index,
                         POINTER(struct ibv_gid_entry, out), 0));
}

/* The descriptor on which the device's events arrive, made non-blocking. */
RINGFETCH(jint, Devices, eventDescriptor)(JAVA, jlong context) {
  int fd = POINTER(struct ibv_context, context)->async_fd;
  check(env, "fcntl", -set_nonblocking(fd));
  return fd;
}

static enum ringfetch_element_kind kind_of(enum ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return ELEMENT_COMPLETION_QUEUE;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return ELEMENT_QUEUE_PAIR;
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE:
      return ELEMENT_PORT;
    case IBV_EVENT_DEVICE_FATAL:
      return ELEMENT_DEVICE;
    default:
      return ELEMENT_OTHER;
  }
}

/* Takes an event and acknowledges it at once, so that destroying its element does not wait. */
RINGFETCH(jint, Devices, nextEvent)(JAVA, jlong handle, jlong out) {
  struct ibv_context *context = POINTER(struct ibv_context, handle);
  struct ibv_async_event event;
  while (ibv_get_async_event(context, &event) != 0) {
    if (errno == EAGAIN) {
      return 0;
    }
    if (errno != EINTR) {
      return -(errno != 0 ? errno : EIO);
    }
  }
  struct ringfetch_device_event *copy = POINTER(struct ringfetch_device_event, out);
  copy->type = (int32_t)event.event_type;
  copy->kind = kind_of(event.event_type);
  switch (copy->kind) {
    case ELEMENT_QUEUE_PAIR:
      copy->element = HANDLE(event.element.qp);
      break;
    case ELEMENT_COMPLETION_QUEUE:
      copy->element = HANDLE(event.element.cq);
      break;
    case ELEMENT_PORT:
      copy->element = event.element.port_num;
      break;
    default:
      copy->element = 0;
  }
  ibv_ack_async_event(&event);
  return 1;
}
