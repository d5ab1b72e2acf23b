/*
 * Initialisation that makes the library usable with no flag on the command line.
 *
 * DiSNI calls System.loadLibrary("disni"). The VM takes that library as linked into the process when
 * it finds JNI_OnLoad_disni among the process's symbols (JNI specification, static linking). So this
 * library exports that symbol and makes its own symbols global before DiSNI asks.
 *
 * DiSNI also uses an interface of java.base that is not exported; JVMTI exports it.
 */
#include "native.h"

#include <dlfcn.h>
#include <jvmti.h>
#include <stdio.h>
#include <string.h>

JNIEXPORT jint JNICALL JNI_OnLoad_disni(JavaVM *vm UNUSED, void *reserved UNUSED) {
  return JNI_VERSION_1_8;
}

/* Makes the symbols of this library visible to the whole process; it stays loaded until the end. */
RINGFETCH(void, NativeLibrary, publishSymbols)(JAVA) {
  Dl_info self_info;
  if (dladdr((void *)(uintptr_t)JNI_OnLoad_disni, &self_info) == 0) {
    throw_io(env, "dladdr: the library does not find itself");
    return;
  }
  if (dlopen(self_info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) == NULL) {
    const char *reason = dlerror();
    throw_io(env, reason != NULL ? reason : "dlopen: the library does not open itself");
  }
}

/* Exports a package of one module to another module, as --add-exports would. */
RINGFETCH(void, NativeLibrary, exportPackage)(JAVA, jobject from, jstring package, jobject to) {
  JavaVM *vm;
  jvmtiEnv *jvmti;
  if ((*env)->GetJavaVM(env, &vm) != JNI_OK ||
      (*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_9) != JNI_OK) {
    throw_io(env, "the Java VM offers no JVMTI 9: start it with --add-exports");
    return;
  }
  const char *name = (*env)->GetStringUTFChars(env, package, NULL);
  if (name != NULL) {
    jvmtiError error = (*jvmti)->AddModuleExports(jvmti, from, name, to);
    if (error != JVMTI_ERROR_NONE) {
      char message[128];
      snprintf(message, sizeof message, "AddModuleExports(%s): JVMTI error %d", name, (int)error);
      throw_io(env, message);
    }
    (*env)->ReleaseStringUTFChars(env, package, name);
  }
  (*jvmti)->DisposeEnvironment(jvmti);
}
