/** The parts of a unary call, each by itself, as JMH measures them. */
package dev.ringfetch.benchmarks.parts;
