/* Completion channels, shared by DiSNI's natives and ours. */
#ifndef RINGFETCH_COMPLETION_H
#define RINGFETCH_COMPLETION_H

#include <infiniband/verbs.h>
#include <jni.h>

/* The queue of the channel's next event, 0 if there is none, or -errno. */
jlong next_completion_event(struct ibv_comp_channel *channel);

#endif
