/** Events of Ringfetch for Java Flight Recorder. */
package dev.ringfetch.flight;
