/** Spatial stores beside each other: Ringfetch's index, its rivals, and their processes. */
package dev.ringfetch.benchmarks.spatial;
