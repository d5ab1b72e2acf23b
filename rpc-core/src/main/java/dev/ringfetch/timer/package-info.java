/**
 * The timer of the process, on one thread that ends when it has nothing to do, and repetitions that
 * use it. Sessions have deadlines of their own, which their pollers watch.
 */
package dev.ringfetch.timer;
