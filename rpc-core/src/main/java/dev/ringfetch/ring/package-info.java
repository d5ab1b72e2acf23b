/**
 * Internal: frames in rings of 64-byte slots: their layout, the end that writes and the end that
 * polls, and the control lines that carry credit past a full ring.
 */
package dev.ringfetch.ring;
