/**
 * The timer of the process, on one thread that ends when it has nothing to do, repetitions that use
 * it, and the creator of the process's threads. Sessions have deadlines of their own, which their
 * pollers watch.
 */
package dev.ringfetch.timer;
