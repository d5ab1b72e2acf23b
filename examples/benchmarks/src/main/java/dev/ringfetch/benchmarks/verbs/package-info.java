/** Peers over verbs, each in a server process and a client process, measured in rounds. */
package dev.ringfetch.benchmarks.verbs;
