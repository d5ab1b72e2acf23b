/**
 * Internal: sessions: the two sides of a connection over rings, their streams and flows, deadlines
 * and end; everything between the frames of a ring and the calls of an API, which it does not know.
 *
 * <p>A session's state belongs to the thread that holds its token: {@code SessionDriver} decides
 * which one that is. The subpackages serve a session through interfaces that it implements: {@code
 * poller} runs it, {@code carrier} and {@code remote} take its frames over a fabric, {@code bulk}
 * keeps its registered memory, {@code unit} holds the bytes of its messages. The package above,
 * {@code handshake}, opens it.
 */
package dev.ringfetch.session;
