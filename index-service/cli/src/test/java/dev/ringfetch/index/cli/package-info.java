/** Tests of the command line, against servers in the same JVM and in others. */
package dev.ringfetch.index.cli;
