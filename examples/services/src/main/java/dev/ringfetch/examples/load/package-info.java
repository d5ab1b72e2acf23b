/** Connections that can be measured, and the results. */
package dev.ringfetch.examples.load;
