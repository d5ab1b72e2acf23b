/**
 * A fabric in virtual time, for tests: whatever the contract of a fabric lets happen, happens here
 * when a seed says so.
 */
package dev.ringfetch.fabric.sim;
