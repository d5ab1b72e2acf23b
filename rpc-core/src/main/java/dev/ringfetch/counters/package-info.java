/**
 * Internal: what a process counts of its channels, backends, servers, sessions and pollers, and the
 * file in which other processes read it. Counting is a plain addition in memory of its own; a
 * thread beside copies what has changed into the file. Applications read the counters through
 * {@code dev.ringfetch.micrometer}.
 */
package dev.ringfetch.counters;
