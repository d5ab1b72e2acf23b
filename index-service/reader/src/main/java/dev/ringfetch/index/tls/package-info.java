/** The TLS credentials of servers and clients of the index, in files that may change. */
package dev.ringfetch.index.tls;
