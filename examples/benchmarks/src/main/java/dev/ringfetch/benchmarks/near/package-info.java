/** Reads near memory, chains and filters: the client's process. */
package dev.ringfetch.benchmarks.near;
