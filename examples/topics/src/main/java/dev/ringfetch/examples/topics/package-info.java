/** One short program for each topic: deadline, cancel, flow control, retry, TLS, metrics. */
package dev.ringfetch.examples.topics;
