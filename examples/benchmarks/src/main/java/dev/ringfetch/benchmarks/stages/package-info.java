/** A unary call in one thread, stage by stage: what each takes and allocates. */
package dev.ringfetch.benchmarks.stages;
