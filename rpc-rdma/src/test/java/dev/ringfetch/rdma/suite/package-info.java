/** The command that runs the tests which need an RDMA device. */
package dev.ringfetch.rdma.suite;
