/**
 * Whole systems over real shared memory: processes and threads that die, stop, idle and collide.
 * Processes are JVMs of their own, see {@link dev.ringfetch.system.SystemChild}.
 */
package dev.ringfetch.system;
