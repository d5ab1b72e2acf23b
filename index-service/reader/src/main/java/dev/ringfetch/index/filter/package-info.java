/**
 * Conditions on entries, and sums of their fields: evaluated by the server for calls, and by
 * clients that read memory, with the same code.
 */
package dev.ringfetch.index.filter;
