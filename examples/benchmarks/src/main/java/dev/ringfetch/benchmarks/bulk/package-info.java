/** Bulk from a client's process to a server's: by gRPC, over rings, and by memory alone. */
package dev.ringfetch.benchmarks.bulk;
