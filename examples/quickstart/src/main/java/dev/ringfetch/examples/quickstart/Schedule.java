package dev.ringfetch.examples.quickstart;

/**
 * Numbers and lengths of the quickstart's rounds.
 *
 * @param warmUp calls before the first round.
 * @param rounds of each.
 * @param calls in a round.
 * @param millis after which a round ends, and so does the warm-up.
 */
record Schedule(int warmUp, int rounds, int calls, int millis) {}
