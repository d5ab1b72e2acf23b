/** Internal: the Index service: checks what a request asks for, and lets the store do it. */
package dev.ringfetch.index.service;
