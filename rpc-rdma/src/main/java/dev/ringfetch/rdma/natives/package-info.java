/**
 * Internal: the bindings of the native library, its loading, its functions, the layouts of their
 * arguments and results, and the texts of its errors. The RDMA fabric uses them, and programs that
 * measure verbs without the fabric. This package and the fabric alone refer to {@code
 * com.ibm.disni}.
 */
package dev.ringfetch.rdma.natives;
