/** The counters of this process as instruments of OpenTelemetry, for applications that have it. */
package dev.ringfetch.opentelemetry;
