/** What the processes of this user count, read from outside. */
package dev.ringfetch.examples.stat;
