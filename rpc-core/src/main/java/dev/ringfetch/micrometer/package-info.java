/** The counters of this process as meters of Micrometer, for applications that have it. */
package dev.ringfetch.micrometer;
