/** Servers and channels for tests of applications, with faults on demand. */
package dev.ringfetch.testing;
