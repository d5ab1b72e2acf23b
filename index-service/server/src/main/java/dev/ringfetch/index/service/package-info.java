/** Internal: the Index service: checks requests, and lets the store execute them. */
package dev.ringfetch.index.service;
