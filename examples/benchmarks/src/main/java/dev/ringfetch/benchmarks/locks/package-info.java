/** The processes of {@code bench locks}, which take one lock from each other. */
package dev.ringfetch.benchmarks.locks;
