package dev.ringfetch.protocol;

/** The client cannot use what the server answered. */
public final class Decline extends Message<Decline> {
  /** Its fields. */
  public static final MessageType<Decline> TYPE = MessageType.of("Decline", Decline::new);

  /** Why, for people to read. */
  public static final Field<Decline, String> REASON = TYPE.string("reason", 1);

  @Override
  MessageType<Decline> type() {
    return TYPE;
  }
}
