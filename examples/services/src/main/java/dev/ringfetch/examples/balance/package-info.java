/** A channel that balances over several servers, with a ring to each. */
package dev.ringfetch.examples.balance;
