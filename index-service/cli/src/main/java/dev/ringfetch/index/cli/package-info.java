/** The command line of the index: one class per command, and what the commands share. */
package dev.ringfetch.index.cli;
