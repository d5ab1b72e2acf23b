/**
 * Pollers: the threads that serve sessions, their sleep, the tasks that they run meanwhile, and the
 * backup threads that take over when a task keeps a poller's own thread. Knows a session as a
 * {@link dev.ringfetch.session.poller.PolledSession}.
 */
package dev.ringfetch.session.poller;
