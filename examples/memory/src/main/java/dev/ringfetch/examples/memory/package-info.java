/** Market data that one process publishes, and others read from its memory. */
package dev.ringfetch.examples.memory;
