/**
 * Internal: the path by which a leader writes records into a member's memory: the layout of that
 * memory, and the rules of both sides.
 */
package dev.ringfetch.index.onesided;
