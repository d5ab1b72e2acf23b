/** Connections that can be measured, and what measuring them gives. */
package dev.ringfetch.examples.load;
