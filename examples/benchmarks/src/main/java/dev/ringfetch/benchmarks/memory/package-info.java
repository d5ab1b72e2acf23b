/** The processes of {@code bench memory}: an owner of memory, and a reader of it. */
package dev.ringfetch.benchmarks.memory;
