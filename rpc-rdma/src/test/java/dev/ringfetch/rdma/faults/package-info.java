/** What goes wrong with RDMA, and what calls see of it. */
package dev.ringfetch.rdma.faults;
