/** Child processes that are asked and answer, a line each, over their standard streams. */
package dev.ringfetch.examples.process;
