/** Benchmarks that start the processes that they measure, and null transports to compare with. */
package dev.ringfetch.benchmarks;
