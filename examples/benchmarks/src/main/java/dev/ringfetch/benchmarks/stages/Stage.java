package dev.ringfetch.benchmarks.stages;

/**
 * The stages of a unary call, one after the other. A stage ends where the next one begins; the last
 * one ends when the stub returns.
 */
public enum Stage {
  /** Until the stub asks for a call. */
  stub(Part.client, "blocking stub, until it asks the channel for a call"),
  /** Until the request is marshalled: call object, listener, headers, a stream of the session. */
  start(Part.client, "call object, context, headers, a stream of the session"),
  /** The request, by protobuf, into the stream's unit. */
  marshal(Part.client, "protobuf writes the request into the unit"),
  /** Until the request's frame is in the ring. */
  write(Part.client, "hand-over to the session, its token, the frame into its slot"),
  /** The client's work behind that, while the frame is on its way. */
  sent(Part.hidden, "client: fence, is the server asleep, the next round"),
  /** Until the session hands the request over. */
  poll(Part.server, "the frame is found, checked and copied, the memory verified"),
  /** Until the request is parsed: call object, sections, context, the stub's listener. */
  dispatch(Part.server, "call object, headers, context, listener and observer of the stub"),
  /** The request, by protobuf. */
  parse(Part.server, "protobuf reads the request"),
  /** Until the handler answers. */
  handler(Part.server, "the handler: a look into the index, the response's message"),
  /** Until the response is marshalled. */
  answer(Part.server, "headers, the message's way to the marshaller"),
  /** The response, by protobuf, into the stream's unit. */
  answerMarshal(Part.server, "protobuf writes the response into the unit"),
  /** Until the response's frame is in the ring. */
  answerWrite(Part.server, "close, hand-over to the session, its token, the frame"),
  /** The server's work behind that, while the frame is on its way. */
  served(Part.hidden, "server: fence, memory verified, counters, the call's end"),
  /** Until the response is parsed: found, told, run by the stub's executor, headers. */
  receive(Part.client, "the frame is found, copied, told; the stub's executor; headers"),
  /** The response, by protobuf. */
  answerParse(Part.client, "protobuf reads the response"),
  /** Until the stub returns. */
  complete(Part.client, "message and status to the stub, the stream given back, return");

  /** The party that waits for a stage. */
  public enum Part {
    /** The call does, at the client. */
    client,
    /** The call does, at the server. */
    server,
    /** Nobody: the other side is at work meanwhile. */
    hidden
  }

  private final Part part;
  private final String text;

  Stage(Part part, String text) {
    this.part = part;
    this.text = text;
  }

  /** The party that waits for it. */
  public Part part() {
    return part;
  }

  /** Its description, for people. */
  public String text() {
    return text;
  }
}
