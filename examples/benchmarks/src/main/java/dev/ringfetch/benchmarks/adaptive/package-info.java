/** Reads of an index by calls, directly and by turns: the client's process. */
package dev.ringfetch.benchmarks.adaptive;
