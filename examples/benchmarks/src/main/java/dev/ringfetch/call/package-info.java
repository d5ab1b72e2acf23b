/**
 * The marshalling of the call layer by itself, to be measured: it stands in the package of what it
 * calls, which is nobody's API.
 */
package dev.ringfetch.call;
