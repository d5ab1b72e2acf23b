package dev.ringfetch.protocol;

/** A step of the client. */
public final class OpenRequest extends Message<OpenRequest> {
  /** Its fields. */
  public static final MessageType<OpenRequest> TYPE =
      MessageType.oneOf("OpenRequest", OpenRequest::new);

  /** What the client can do: the first step, and again after a decline. */
  public static final Field<OpenRequest, Hello> HELLO = TYPE.message("hello", 1, Hello.TYPE);

  /** The client could not connect as the server answered. */
  public static final Field<OpenRequest, Decline> DECLINE =
      TYPE.message("decline", 2, Decline.TYPE);

  @Override
  MessageType<OpenRequest> type() {
    return TYPE;
  }
}
