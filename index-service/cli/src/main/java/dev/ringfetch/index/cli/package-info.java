/** The command line of the index: one class per command, and their common classes. */
package dev.ringfetch.index.cli;
