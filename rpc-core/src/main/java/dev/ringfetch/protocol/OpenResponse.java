package dev.ringfetch.protocol;

/** A step of the server. */
public final class OpenResponse extends Message<OpenResponse> {
  /** Its fields. */
  public static final MessageType<OpenResponse> TYPE =
      MessageType.oneOf("OpenResponse", OpenResponse::new);

  /** To a hello: what the connection is to be. */
  public static final Field<OpenResponse, Answer> ANSWER = TYPE.message("answer", 1, Answer.TYPE);

  /** To a hello: there is no connection. The last step. */
  public static final Field<OpenResponse, Refusal> REFUSAL =
      TYPE.message("refusal", 2, Refusal.TYPE);

  @Override
  MessageType<OpenResponse> type() {
    return TYPE;
  }
}
