/* Events that a device reports on its own. */
#ifndef RINGFETCH_DEVICE_H
#define RINGFETCH_DEVICE_H

#include <stdint.h>

/* An asynchronous event as Java reads it: DeviceEventLayout there has the same offsets. */
struct ringfetch_device_event {
  int64_t element; /* handle of a queue pair or completion queue, or a port's number */
  int32_t type;    /* ibv_event_type */
  int32_t kind;    /* what the element is */
};

enum ringfetch_element_kind {
  ELEMENT_DEVICE,
  ELEMENT_PORT,
  ELEMENT_QUEUE_PAIR,
  ELEMENT_COMPLETION_QUEUE,
  ELEMENT_OTHER,
};

#endif
