/** Runs the stress tests of the packages beside. */
package dev.ringfetch.stress;
