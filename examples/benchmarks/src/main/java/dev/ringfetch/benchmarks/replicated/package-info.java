/** Stores whose entries three processes have, to compare with each other. */
package dev.ringfetch.benchmarks.replicated;
