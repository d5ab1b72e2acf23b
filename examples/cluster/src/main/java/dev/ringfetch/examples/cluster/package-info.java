/** A cluster on one machine: starts and ends its processes, and proves what its clients saw. */
package dev.ringfetch.examples.cluster;
