/* Memory registration, shared by DiSNI's natives and ours. */
#ifndef RINGFETCH_REGION_H
#define RINGFETCH_REGION_H

#include <infiniband/verbs.h>
#include <jni.h>
#include <stddef.h>

/* Registers memory, or throws and returns NULL. */
struct ibv_mr *register_memory(JNIEnv *env, struct ibv_pd *pd, void *address, size_t length,
                               int access);

#endif
