/**
 * Internal: the RDMA fabric's provider, on DiSNI and on natives of our own for what DiSNI's Java
 * half cannot say. The only package that refers to {@code com.ibm.disni}.
 */
package dev.ringfetch.rdma.verbs;
