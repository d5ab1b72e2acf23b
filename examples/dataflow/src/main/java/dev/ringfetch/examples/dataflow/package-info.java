/** A dataflow: columns that pass in batches from a source's process to a sink's. */
package dev.ringfetch.examples.dataflow;
